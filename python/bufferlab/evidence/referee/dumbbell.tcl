# A dumbbell with one drop-tail bottleneck for ns-2 2.35; `bufferlab.evidence.ns2.equivalent` makes the same here.
#
#   ns dumbbell.tcl NAME=VALUE ...
#
# The first half of the flows (rounded up) has the two-way propagation delay rtt1, the others rtt2, ms. `rate`, `access`
# and `back` (the way back, if it differs from `rate`) are Mbps, `botdelay` ms, all other times s. `bytes` is a data
# packet on the wire. `buf` is the queue's limit_: buf - 1 packets wait. The round-trip times of a type's pairs of hosts
# are evenly spaced over rtt (1 - spread) ... rtt (1 + spread). `overhead` is the hosts' noise. `shift`: the
# round-trip time of each pair of hosts is longer by up to this, drawn by the seed. `mix` (reno:42,bic:51) gives flows these
# controls of Agent/TCP/Linux: the next flow the one that lags most behind its share. With `hdr` 40 of the `bytes` are
# headers that ns-2 adds itself. Measured is from `warm` to `sim`.
# Prints one line: RESULT NAME=VALUE ...

array set given {
  cc sack1  rate 10  bytes 1000  n 2  rtt1 40  rtt2 40  buf 50  sim 100  warm 20  startmax 5  seed 1
  access 10000  back 0  botdelay 1  hosts 1  spread 0  overhead 0  delack 0  window 100000
  singledup 1  minrto 0.2  tick 0.01  shift 0  mix {}  hdr 0
}
foreach word $argv {
  lassign [split $word =] name value
  if {![info exists given($name)]} { puts stderr "unknown: $word"; exit 2 }
  set given($name) $value
}
foreach {name value} [array get given] { set $name $value }

set ns [new Simulator]
set starts [new RNG]
$starts seed $seed
ns-random $seed
set shifts [new RNG]
$shifts seed [expr {1000 + $seed}]
# the first numbers of one seed are next to those of the next
for {set skipped 0} {$skipped < 10} {incr skipped} { $shifts uniform 0 1 }

# packetSize_ is what the wire carries, where useHeaders_ adds nothing
foreach {name value} [list useHeaders_ $hdr packetSize_ [expr {$bytes - 40 * $hdr}] \
    window_ $window windowInit_ 2 overhead_ $overhead \
    tcpTick_ $tick minrto_ $minrto singledup_ $singledup syn_ true maxburst_ 0] {
  Agent/TCP set $name $value
}

# --- links: none drops but the bottleneck -------------------------------------------------------------------------
set never 10000000
proc join {left right mbps ms limit} {
  global ns never
  $ns duplex-link $left $right [expr {$mbps * 1e6}] [expr {$ms / 1e3}] DropTail
  $ns queue-limit $left $right $limit
  $ns queue-limit $right $left $never
}
set left [$ns node]
set right [$ns node]
join $left $right $rate $botdelay $buf
if {$back > 0} { [[$ns link $right $left] link] set bandwidth_ [expr {$back * 1e6}] }
foreach kind {1 2} {
  for {set host 0} {$host < $hosts} {incr host} {
    set place [expr {2.0 * ($host + 0.5) / $hosts - 1.0}]
    set quarter [expr {([set rtt$kind] * (1.0 + $spread * $place) / 2.0 - $botdelay) / 2.0}]
    set source($kind,$host) [$ns node]
    set sink($kind,$host) [$ns node]
    set later [expr {$shift > 0 ? [$shifts uniform 0 $shift] * 1e3 / 2.0 : 0.0}]
    join $source($kind,$host) $left $access [expr {$quarter + $later}] $never
    join $right $sink($kind,$host) $access $quarter $never
  }
}

# --- flows --------------------------------------------------------------------------------------------------------
proc sender {cc} {
  switch -glob $cc {
    sack1 { return [new Agent/TCP/Sack1] }
    newreno { return [new Agent/TCP/Newreno] }
    reno { return [new Agent/TCP/Reno] }
    linux-* {
      set agent [new Agent/TCP/Linux]
      $agent set timestamps_ true
      $agent set windowOption_ 8
      return $agent
    }
  }
  puts stderr "unknown agent: $cc"
  exit 2
}
proc receiver {cc delack} {
  set kind [expr {$cc in {newreno reno} ? "Agent/TCPSink" : "Agent/TCPSink/Sack1"}]
  set agent [new [expr {$delack ? "$kind/DelAck" : $kind}]]
  if {[string match linux-* $cc]} { $agent set ts_echo_rfc1323_ true }
  return $agent
}
proc controls {mix n} {
  array set wanted [split $mix {:,}]
  foreach {name count} [split $mix {:,}] { set left($name) $count; lappend names $name }
  for {set flow 1} {$flow <= $n} {incr flow} {
    set most -1e9
    foreach name $names {
      set lag [expr {double($flow) * $wanted($name) / $n - ($wanted($name) - $left($name))}]
      if {$lag > $most && $left($name) > 0} { set most $lag; set chosen $name }
    }
    incr left($chosen) -1
    lappend found linux-$chosen
  }
  return $found
}
set agents [expr {$mix eq "" ? [lrepeat $n $cc] : [controls $mix $n]}]
set first [expr {($n + 1) / 2}]
for {set flow 0} {$flow < $n} {incr flow} {
  set type_of($flow) [expr {$flow < $first ? 1 : 2}]
  set host [expr {($type_of($flow) == 1 ? $flow : $flow - $first) % $hosts}]
  set cc [lindex $agents $flow]
  set tcp($flow) [sender $cc]
  set answering [receiver $cc $delack]
  $tcp($flow) set fid_ $type_of($flow)
  $ns attach-agent $source($type_of($flow),$host) $tcp($flow)
  $ns attach-agent $sink($type_of($flow),$host) $answering
  $ns connect $tcp($flow) $answering
  if {[string match linux-* $cc]} { $ns at 0 "$tcp($flow) select_ca [string range $cc 6 end]" }
  set bulk [new Application/FTP]
  $bulk attach-agent $tcp($flow)
  $ns at [$starts uniform 0 $startmax] "$bulk start"
}

# --- what is measured -----------------------------------------------------------------------------------------------
set monitor [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $left $right] $monitor
set backlog [new Integrator]
$monitor set-pkts-integrator $backlog
proc of_kind {wanted} {
  global monitor
  foreach each [$monitor flows] { if {[$each set flowid_] == $wanted} { return $each } }
  return ""
}
# bdepartures_ wraps at 2^32 when Tcl reads it, so packets are counted: all data packets are of one size
proc counters {} {
  global monitor backlog ns n tcp
  $backlog newpoint [$ns now] [$backlog set lasty_]
  set now(area) [$backlog set sum_]
  set now(departed) [$monitor set pdepartures_]
  foreach kind {1 2} {
    set each [of_kind $kind]
    set now(arrivals$kind) [expr {$each eq "" ? 0 : [$each set parrivals_]}]
    set now(drops$kind) [expr {$each eq "" ? 0 : [$each set pdrops_]}]
  }
  for {set flow 0} {$flow < $n} {incr flow} {
    foreach {name variable} {acked ack_ timeouts nrexmit_ cuts ncwndcuts_} {
      set now($name,$flow) [$tcp($flow) set $variable]
    }
  }
  return [array get now]
}
proc begin {} {
  global before
  array set before [counters]
  foreach kind {1 2} { if {[of_kind $kind] ne ""} { [[of_kind $kind] get-delay-samples] reset } }
}
proc report {} {
  global before ns warm n type_of rate bytes mix agents
  array set after [counters]
  set measured [expr {[$ns now] - $warm}]
  set line "RESULT mean_queue_packets=[expr {($after(area) - $before(area)) / $measured}]"
  append line " utilization=[expr {($after(departed) - $before(departed)) * $bytes * 8.0 / ($rate * 1e6 * $measured)}]"
  foreach wanted {1 2} {
    set flows 0; set sum 0.0; set squares 0.0; set timeouts 0; set cuts 0
    for {set flow 0} {$flow < $n} {incr flow} {
      if {$type_of($flow) != $wanted} { continue }
      set mbps [expr {($after(acked,$flow) - $before(acked,$flow)) * $bytes * 8.0 / $measured / 1e6}]
      incr flows
      set sum [expr {$sum + $mbps}]
      set squares [expr {$squares + $mbps * $mbps}]
      incr timeouts [expr {$after(timeouts,$flow) - $before(timeouts,$flow)}]
      incr cuts [expr {$after(cuts,$flow) - $before(cuts,$flow)}]
    }
    if {$flows == 0} { continue }
    set mean [expr {$sum / $flows}]
    set deviation [expr {sqrt(max(0.0, $squares / $flows - $mean * $mean))}]
    set samples [[of_kind $wanted] get-delay-samples]
    set delay_ms [expr {[$samples cnt] > 0 ? [$samples mean] * 1e3 : 0.0}]
    append line " goodput${wanted}_mbps=$mean goodput${wanted}_sd_mbps=$deviation wait${wanted}_ms=$delay_ms"
    append line " timeouts$wanted=$timeouts window_cuts$wanted=$cuts"
    foreach name {arrivals drops} {
      append line " $name$wanted=[expr {$after($name$wanted) - $before($name$wanted)}]"
    }
  }
  if {$mix ne ""} {
    foreach agent [lsort -unique $agents] {
      set flows [lsearch -all -exact $agents $agent]
      set packets 0
      foreach flow $flows { incr packets [expr {$after(acked,$flow) - $before(acked,$flow)}] }
      append line " goodput_[string range $agent 6 end]_mbps="
      append line [expr {$packets * $bytes * 8.0 / $measured / 1e6 / [llength $flows]}]
    }
  }
  puts $line
  exit 0
}
$ns at $warm begin
$ns at $sim report
$ns run
