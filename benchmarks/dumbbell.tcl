# The benchmark's workload for ns-2: long-lived SACK flows through one drop-tail link.
#
#   ns dumbbell.tcl FLOWS RATE_BPS LIMIT_PACKETS SECONDS
#
# Flow i belongs to one of 20 round-trip time classes (i modulo 20) from 81 to 119 ms; a class has its own pair of hosts,
# joined by 10 Gbit/s links whose queues never drop. The bottleneck has 1 ms of the delay, the rest is shared evenly. Data
# packets have 1000 bytes on the wire. The queue is watched as in the program under comparison: packets, drops,
# time-averaged backlog, waiting time of each packet. The last line is "packets=N arrived=N", data packets that left the
# bottleneck and that came to it.

lassign $argv flows rate_bps limit_packets seconds
set classes 20
set packet_bytes 1000
set unlimited 10000000

Agent/TCP set useHeaders_ false
Agent/TCP set packetSize_ $packet_bytes
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 2
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 0.2
Agent/TCP set overhead_ 0

proc pipe {from to rate_bps delay_s} {
  global simulator unlimited
  $simulator duplex-link $from $to $rate_bps $delay_s DropTail
  $simulator queue-limit $from $to $unlimited
  $simulator queue-limit $to $from $unlimited
}

set simulator [new Simulator]
set left [$simulator node]
set right [$simulator node]
pipe $left $right $rate_bps 0.001
# ns-2 counts the packet in transmission and drops when the queue would reach the limit.
$simulator queue-limit $left $right [expr {$limit_packets + 1}]
for {set class 0} {$class < min($classes, $flows)} {incr class} {
  set rtt_s [expr {0.080 + 0.040 * (2 * $class + 1) / (2.0 * $classes)}]
  set access_s [expr {($rtt_s / 2 - 0.001) / 2}]
  set source($class) [$simulator node]
  set sink($class) [$simulator node]
  pipe $source($class) $left 10e9 $access_s
  pipe $right $sink($class) 10e9 $access_s
}

set monitor [$simulator monitor-queue $left $right ""]
$monitor set-delay-samples [new Samples]

for {set flow 0} {$flow < $flows} {incr flow} {
  set class [expr {$flow % $classes}]
  set sender [new Agent/TCP/Sack1]
  set receiver [new Agent/TCPSink/Sack1]
  $simulator attach-agent $source($class) $sender
  $simulator attach-agent $sink($class) $receiver
  $simulator connect $sender $receiver
  set application [new Application/FTP]
  $application attach-agent $sender
  set turn [expr {((($flow + 1) * 0x9e3779b97f4a7c15) & 0xffffffffffffffff) >> 44}]
  $simulator at [expr {5.0 * $turn / (1 << 20)}] "$application start"
}

proc finish {} {
  global monitor
  puts "packets=[$monitor set pdepartures_] arrived=[$monitor set parrivals_]"
  exit 0
}
$simulator at $seconds finish
$simulator run
