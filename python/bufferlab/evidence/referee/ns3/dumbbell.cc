// One run of a drawn setting in ns-3 (3.44): a dumbbell whose bottleneck has one of ns-3's queue discs.
//
//   ./dumbbell --key=value ...          prints RESULT and name=value pairs
//
// TCP flows that never end; the first half has a two-way propagation delay of rtt1 ms, the other half of rtt2 ms.
// The disc sits at the device itself: what it holds is what waits, and the packet in transmission is outside. (Installed
// the usual way, ns-3 keeps at least one more packet in a queue of the device, below the disc.)
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t PPP = 2;

// What the bottleneck counts of the flows of a round-trip time.
struct Kind
{
    uint64_t arrived = 0, dropped = 0, marked = 0, departed = 0;
    double wait_s = 0;
};

Kind g_kinds[3], g_warm[3];
double g_area = 0, g_areaWarm = 0, g_last_s = 0;
uint64_t g_bytes = 0, g_bytesWarm = 0;
uint32_t g_waiting = 0;
std::vector<Ptr<PacketSink>> g_sinks;
std::vector<uint64_t> g_received;

// A frame as a queue disc's item: the flow by addresses and ports, the mark in its IP header.
class Frame : public QueueDiscItem
{
  public:
    explicit Frame(Ptr<Packet> packet)
        : QueueDiscItem(packet, Address(), 0x0800)
    {
    }

    // Sources are 10.<kind>.<host>.<k>.
    static int KindOf(Ptr<const Packet> packet)
    {
        uint8_t head[PPP + 14];
        packet->CopyData(head, sizeof head);
        return head[PPP + 13];
    }

    void AddHeader() override
    {
    }

    bool Mark() override
    {
        PppHeader ppp;
        Ipv4Header ip;
        Ptr<Packet> packet = GetPacket();
        packet->RemoveHeader(ppp);
        packet->RemoveHeader(ip);
        bool const capable = ip.GetEcn() != Ipv4Header::ECN_NotECT;
        if (capable)
        {
            ip.SetEcn(Ipv4Header::ECN_CE);
        }
        packet->AddHeader(ip);
        packet->AddHeader(ppp);
        return capable;
    }

    bool GetUint8Value(Uint8Values field, uint8_t& value) const override
    {
        if (field != IP_DSFIELD)
        {
            return false;
        }
        uint8_t head[PPP + 2];
        GetPacket()->CopyData(head, sizeof head);
        value = head[PPP + 1];
        return true;
    }

    // Addresses and ports, FNV-1a.
    uint32_t Hash(uint32_t perturbation) const override
    {
        uint8_t head[PPP + 24];
        GetPacket()->CopyData(head, sizeof head);
        uint32_t hash = 2166136261u ^ perturbation;
        for (uint32_t i = PPP + 12; i < sizeof head; i++)
        {
            hash = (hash ^ head[i]) * 16777619u;
        }
        return hash ^ (hash >> 15);
    }
};

// A device's queue that is a queue disc.
class DiscQueue : public Queue<Packet>
{
  public:
    explicit DiscQueue(Ptr<QueueDisc> disc)
        : m_disc(disc)
    {
    }

    bool Enqueue(Ptr<Packet> packet) override
    {
        g_kinds[Frame::KindOf(packet)].arrived++;
        return m_disc->Enqueue(Create<Frame>(packet));
    }

    Ptr<Packet> Dequeue() override
    {
        Ptr<QueueDiscItem> item = m_disc->Dequeue();
        if (!item)
        {
            return nullptr;
        }
        Kind& kind = g_kinds[Frame::KindOf(item->GetPacket())];
        kind.departed++;
        kind.wait_s += (Simulator::Now() - item->GetTimeStamp()).GetSeconds();
        g_bytes += item->GetPacket()->GetSize();
        return item->GetPacket();
    }

    Ptr<Packet> Remove() override
    {
        return Dequeue();
    }

    Ptr<const Packet> Peek() const override
    {
        return m_disc->Peek()->GetPacket();
    }

  private:
    Ptr<QueueDisc> m_disc;
};

// A control whose window grows by what an acknowledgment reports as delivered, as RFC 5681 and Linux have it. ns-3 calls
// IncreaseWindow at the end of a recovery with all segments that its last acknowledgment covers, though most of them were
// reported (SACK) before; a window of ten segments then grows by two at once.
template <class Control>
class Delivered : public Control
{
  public:
    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t acked) override
    {
        Control::IncreaseWindow(state, std::min<uint32_t>(acked, 2));
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject(Ptr<Delivered>(this));
    }

    static TypeId GetTypeId()
    {
        static TypeId const id = TypeId(("Delivered" + Control::GetTypeId().GetName().substr(5)).c_str())
                                     .SetParent<Control>()
                                     .template AddConstructor<Delivered>();
        return id;
    }
};

// A link from a host whose packets take a random time more, in order: the host's noise, so that flows do not keep their places.
class NoisyChannel : public PointToPointChannel
{
  public:
    static double bound_s;

    bool TransmitStart(Ptr<const Packet> packet, Ptr<PointToPointNetDevice> from, Time transmission) override
    {
        Time const now = Simulator::Now();
        Time& last = m_last[from];
        last = std::max(last, now + Seconds(m_chance->GetValue(0, bound_s)));
        return PointToPointChannel::TransmitStart(packet, from, transmission + last - now);
    }

  private:
    Ptr<UniformRandomVariable> m_chance = CreateObject<UniformRandomVariable>();
    std::map<Ptr<PointToPointNetDevice>, Time> m_last;
};

double NoisyChannel::bound_s = 0;

// As PointToPointHelper, with noise in both directions.
NetDeviceContainer
InstallNoisy(Ptr<Node> host, Ptr<Node> router, Time delay)
{
    Ptr<NoisyChannel> channel = CreateObject<NoisyChannel>();
    channel->SetAttribute("Delay", TimeValue(delay));
    NetDeviceContainer devices;
    for (Ptr<Node> node : {host, router})
    {
        Ptr<PointToPointNetDevice> device = CreateObject<PointToPointNetDevice>();
        device->SetAddress(Mac48Address::Allocate());
        device->SetDataRate(DataRate("10Gbps"));
        device->SetQueue(CreateObjectWithAttributes<DropTailQueue<Packet>>("MaxSize", StringValue("10000000p")));
        node->AddDevice(device);
        device->Attach(channel);
        devices.Add(device);
    }
    return devices;
}

void
OnWaiting(uint32_t, uint32_t now)
{
    double const t = Simulator::Now().GetSeconds();
    g_area += (t - g_last_s) * g_waiting;
    g_last_s = t;
    g_waiting = now;
}

void
OnDrop(Ptr<const QueueDiscItem> item)
{
    g_kinds[Frame::KindOf(item->GetPacket())].dropped++;
}

void
OnMark(Ptr<const QueueDiscItem> item, const char*)
{
    g_kinds[Frame::KindOf(item->GetPacket())].marked++;
}

void
EndWarmup()
{
    OnWaiting(0, g_waiting);
    g_areaWarm = g_area;
    g_bytesWarm = g_bytes;
    for (int kind = 1; kind <= 2; kind++)
    {
        g_warm[kind] = g_kinds[kind];
    }
    for (size_t i = 0; i < g_sinks.size(); i++)
    {
        g_received[i] = g_sinks[i]->GetTotalRx();
    }
}

struct Options
{
    std::string cc = "linuxreno", queue = "fifo";
    double rate = 10, rtt1 = 40, rtt2 = 40, sim = 60, warm = 15, startmax = 5, spread = 0;
    double target = 5, interval = 100, cethresh = 0, minth = 5, maxth = 15, weight = 0.002, maxp = 0.1, minrto = 0.2, noise = 0;
    uint32_t bytes = 1500, n = 2, buf = 100, hosts = 0, seed = 1;
    bool ecn = false, delivered = false;
};

Options
Parse(int argc, char* argv[])
{
    Options o;
    CommandLine cmd;
    cmd.AddValue("cc", "linuxreno cubic bbr dctcp", o.cc);
    cmd.AddValue("queue", "fifo codel fq_codel pie red", o.queue);
    cmd.AddValue("rate", "bottleneck, Mbps", o.rate);
    cmd.AddValue("bytes", "a full packet, every header included", o.bytes);
    cmd.AddValue("n", "flows", o.n);
    cmd.AddValue("rtt1", "ms", o.rtt1);
    cmd.AddValue("rtt2", "ms", o.rtt2);
    cmd.AddValue("buf", "packets that may wait", o.buf);
    cmd.AddValue("sim", "s", o.sim);
    cmd.AddValue("warm", "s before measuring", o.warm);
    cmd.AddValue("startmax", "flows start uniformly in [0, startmax] s", o.startmax);
    cmd.AddValue("hosts", "host pairs per kind (0: ceil(sqrt))", o.hosts);
    cmd.AddValue("spread", "the hosts' RTTs are evenly spaced over rtt (1 - spread) to rtt (1 + spread)", o.spread);
    cmd.AddValue("target", "codel, fq_codel, pie: ms", o.target);
    cmd.AddValue("interval", "codel, fq_codel: ms", o.interval);
    cmd.AddValue("cethresh", "codel: marks above this wait, ms; 0: never", o.cethresh);
    cmd.AddValue("minth", "red: packets", o.minth);
    cmd.AddValue("maxth", "red: packets", o.maxth);
    cmd.AddValue("weight", "red: w_q", o.weight);
    cmd.AddValue("maxp", "red: max_p", o.maxp);
    cmd.AddValue("minrto", "s", o.minrto);
    cmd.AddValue("noise", "what a host's packets take more, uniform up to it, ms", o.noise);
    cmd.AddValue("ecn", "flows and queue use ECN", o.ecn);
    cmd.AddValue("delivered", "linuxreno, cubic: windows grow by what is delivered", o.delivered);
    cmd.AddValue("seed", "run number", o.seed);
    cmd.Parse(argc, argv);
    return o;
}

Ptr<QueueDisc>
MakeDisc(const Options& o)
{
    ObjectFactory factory;
    auto const limit = QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, o.buf));
    auto const ms = [](double value) { return TimeValue(Seconds(value / 1e3)); };
    if (o.queue == "fifo")
    {
        factory.SetTypeId("ns3::FifoQueueDisc");
    }
    else if (o.queue == "codel")
    {
        factory.SetTypeId("ns3::CoDelQueueDisc");
        factory.Set("Target", ms(o.target));
        factory.Set("Interval", ms(o.interval));
        factory.Set("UseEcn", BooleanValue(o.ecn));
        if (o.cethresh > 0)
        {
            factory.Set("CeThreshold", ms(o.cethresh));
        }
    }
    else if (o.queue == "fq_codel")
    {
        factory.SetTypeId("ns3::FqCoDelQueueDisc");
        factory.Set("Target", StringValue(std::to_string(o.target) + "ms"));
        factory.Set("Interval", StringValue(std::to_string(o.interval) + "ms"));
        factory.Set("UseEcn", BooleanValue(o.ecn));
        factory.Set("Perturbation", UintegerValue(o.seed));
    }
    else if (o.queue == "pie")
    {
        factory.SetTypeId("ns3::PieQueueDisc");
        factory.Set("QueueDelayReference", ms(o.target));
        factory.Set("UseDerandomization", BooleanValue(true)); // RFC 8033, section 5.4; off in ns-3
        factory.Set("MeanPktSize", UintegerValue(o.bytes));
        factory.Set("UseEcn", BooleanValue(o.ecn));
    }
    else if (o.queue == "red")
    {
        factory.SetTypeId("ns3::RedQueueDisc");
        factory.Set("MinTh", DoubleValue(o.minth));
        factory.Set("MaxTh", DoubleValue(o.maxth));
        factory.Set("QW", DoubleValue(o.weight));
        factory.Set("LInterm", DoubleValue(1 / o.maxp));
        factory.Set("MeanPktSize", UintegerValue(o.bytes));
        factory.Set("IdlePktSize", UintegerValue(o.bytes));
        factory.Set("LinkBandwidth", DataRateValue(DataRate((uint64_t)(o.rate * 1e6))));
        factory.Set("UseEcn", BooleanValue(o.ecn));
        factory.Set("UseHardDrop", BooleanValue(true));
        factory.Set("Wait", BooleanValue(false)); // uniform distances, as Floyd and Jacobson (1993) and Linux have them
    }
    else
    {
        NS_ABORT_MSG("unknown queue " << o.queue);
    }
    factory.Set("MaxSize", limit);
    Ptr<QueueDisc> disc = factory.Create<QueueDisc>();
    if (o.queue == "fq_codel")
    {
        DynamicCast<FqCoDelQueueDisc>(disc)->SetQuantum(o.bytes);
    }
    disc->Initialize();
    disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&OnWaiting));
    disc->TraceConnectWithoutContext("Drop", MakeCallback(&OnDrop));
    disc->TraceConnectWithoutContext("Mark", MakeCallback(&OnMark));
    return disc;
}

void
SetTcp(const Options& o)
{
    std::string const reno = o.delivered ? Delivered<TcpLinuxReno>::GetTypeId().GetName() : "ns3::TcpLinuxReno";
    std::string const cubic = o.delivered ? Delivered<TcpCubic>::GetTypeId().GetName() : "ns3::TcpCubic";
    std::string const type = o.cc == "linuxreno" ? reno
                             : o.cc == "cubic"   ? cubic
                             : o.cc == "bbr"     ? "ns3::TcpBbr"
                             : o.cc == "dctcp"   ? "ns3::TcpDctcp"
                                                 : "";
    NS_ABORT_MSG_IF(type.empty(), "unknown control " << o.cc);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(type));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(o.bytes - PPP - 20 - 20 - 12));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1u << 25));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1u << 25));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(o.minrto)));
    // Below the least timeout: with ns-3's 200 ms for both, a flow whose window is one segment times out for ever.
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(o.ecn ? "On" : "Off"));
}

} // namespace

int
main(int argc, char* argv[])
{
    Options const o = Parse(argc, argv);
    RngSeedManager::SetSeed(12345);
    RngSeedManager::SetRun(o.seed);
    SetTcp(o);
    NoisyChannel::bound_s = o.noise / 1e3;

    Ptr<Node> left = CreateObject<Node>(), right = CreateObject<Node>();
    InternetStackHelper stack;
    stack.Install(NodeContainer(left, right));
    PointToPointHelper link;
    link.DisableFlowControl(); // else Ipv4AddressHelper installs a disc of its own
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000000p"));
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate((uint64_t)(o.rate * 1e6))));
    double const own_ms = 1;
    link.SetChannelAttribute("Delay", TimeValue(Seconds(own_ms / 1e3)));
    NetDeviceContainer bottleneck = link.Install(left, right);
    Ptr<QueueDisc> disc = MakeDisc(o);
    DynamicCast<PointToPointNetDevice>(bottleneck.Get(0))->SetQueue(CreateObject<DiscQueue>(disc));
    Ipv4AddressHelper address;
    address.SetBase("10.3.0.0", "255.255.255.252");
    Ipv4InterfaceContainer between = address.Assign(bottleneck);

    link.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(left->GetObject<Ipv4>())
        ->AddNetworkRouteTo("10.4.0.0", "255.252.0.0", between.GetAddress(1), 1);
    routing.GetStaticRouting(right->GetObject<Ipv4>())
        ->AddNetworkRouteTo("10.0.0.0", "255.252.0.0", between.GetAddress(0), 1);

    uint32_t const count[3] = {0, (o.n + 1) / 2, o.n / 2};
    double const rtt[3] = {0, o.rtt1, o.rtt2};
    Ptr<UniformRandomVariable> chance = CreateObject<UniformRandomVariable>();
    std::vector<int> kind_of;
    for (int kind = 1; kind <= 2; kind++)
    {
        uint32_t const wanted = o.hosts ? o.hosts : (uint32_t)std::ceil(std::sqrt((double)count[kind]));
        uint32_t const hosts = std::min(wanted, count[kind]);
        std::vector<Ptr<Node>> from, to;
        std::vector<Ipv4Address> sink_at;
        for (uint32_t host = 0; host < hosts; host++)
        {
            double const own = rtt[kind] * (1 + o.spread * (2 * (host + 0.5) / hosts - 1));
            Time const delay = Seconds((own / 2 - own_ms) / 2 / 1e3);
            link.SetChannelAttribute("Delay", TimeValue(delay));
            Ptr<Node> sender = CreateObject<Node>(), receiver = CreateObject<Node>();
            stack.Install(NodeContainer(sender, receiver));
            NetDeviceContainer in = InstallNoisy(sender, left, delay), out = link.Install(right, receiver);
            address.SetBase(Ipv4Address((10u << 24) | (kind << 16) | (host << 8)), "255.255.255.252");
            Ipv4InterfaceContainer near = address.Assign(in);
            address.SetBase(Ipv4Address((10u << 24) | ((kind + 3) << 16) | (host << 8)), "255.255.255.252");
            Ipv4InterfaceContainer far = address.Assign(out);
            routing.GetStaticRouting(sender->GetObject<Ipv4>())->SetDefaultRoute(near.GetAddress(1), 1);
            routing.GetStaticRouting(receiver->GetObject<Ipv4>())->SetDefaultRoute(far.GetAddress(0), 1);
            from.push_back(sender);
            to.push_back(receiver);
            sink_at.push_back(far.GetAddress(1));
        }
        for (uint32_t i = 0; i < count[kind]; i++)
        {
            uint32_t const host = i % hosts;
            uint16_t const port = 5000 + i;
            PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
            ApplicationContainer sinks = sink.Install(to[host]);
            sinks.Start(Seconds(0));
            BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(sink_at[host], port));
            bulk.SetAttribute("SendSize", UintegerValue(o.bytes - PPP - 52));
            bulk.Install(from[host]).Start(Seconds(chance->GetValue(0, o.startmax)));
            g_sinks.push_back(DynamicCast<PacketSink>(sinks.Get(0)));
            kind_of.push_back(kind);
        }
    }
    g_received.assign(g_sinks.size(), 0);

    Simulator::Schedule(Seconds(o.warm), &EndWarmup);
    Simulator::Stop(Seconds(o.sim));
    Simulator::Run();
    OnWaiting(0, g_waiting);

    double const measured_s = o.sim - o.warm;
    double mean[3] = {0, 0, 0}, squares[3] = {0, 0, 0};
    for (size_t i = 0; i < g_sinks.size(); i++)
    {
        double const mbps = (g_sinks[i]->GetTotalRx() - g_received[i]) * 8 / 1e6 / measured_s;
        mean[kind_of[i]] += mbps / count[kind_of[i]];
        squares[kind_of[i]] += mbps * mbps / count[kind_of[i]];
    }
    std::printf("RESULT utilization=%.6f mean_queue_packets=%.4f",
                (g_bytes - g_bytesWarm) * 8 / (o.rate * 1e6 * measured_s),
                (g_area - g_areaWarm) / measured_s);
    for (int kind = 1; kind <= 2; kind++)
    {
        Kind const &all = g_kinds[kind], &warm = g_warm[kind];
        double const departed = std::max<double>(1, all.departed - warm.departed);
        std::printf(" goodput%d_mbps=%.6f goodput%d_sd_mbps=%.6f arrivals%d=%lu drops%d=%lu marks%d=%lu wait%d_ms=%.5f", kind,
                    mean[kind], kind, std::sqrt(std::max(0.0, squares[kind] - mean[kind] * mean[kind])), kind,
                    all.arrived - warm.arrived, kind, all.dropped - warm.dropped, kind, all.marked - warm.marked, kind,
                    (all.wait_s - warm.wait_s) / departed * 1e3);
    }
    std::printf("\n");
    std::fflush(stdout);
    _exit(0); // tearing down what still waits takes longer than the run
}
