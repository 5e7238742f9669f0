//! Host presets: what the hosts do beside TCP unless the table `[host]` changes it.
//!
//! Each constant names its source. `ideal` does nothing, the `linux` ones are Linux hosts with a card of that speed, and
//! `mininet` is a virtual host, whose packets no card cuts.

use std::sync::LazyLock;

use bufferlab_parameters::words;
use bufferlab_simulator::JitterPlan;
use serde::Serialize;

use super::tcp::Stack;
use super::tcp_keys::TcpKeys;
use crate::keys::{
    Choice, Presence, RATE, Size, Text, Time, Whole, WordOf, absent, part, shown, shown_as_words,
};
use crate::quantity::hosts::Offload;
use crate::quantity::jitter::{Jitter, Noise, parse_noise};

words! {
    /// A sending host's own queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HostQueue {
        /// First in, first out.
        Fifo = "fifo",
        /// Each flow at its pace.
        Fq = "fq",
    }
}

const NOISE: Text<Noise> = Text::of("`exponential`, `pareto` or `\"none\"`", |value, _| parse_noise(value));

/// What a host's key is without being given.
const PRESET: Presence = absent("the host's");

part! {
    /// What hosts do beside TCP, in place of what their presets say: of every flow group whose host is not `ideal`.
    pub struct Host under "hosts" {
        /// Rate of the card's line. The segments of a packet leave one after the other at it; a group's `access_rate` goes before.
        line_rate_bps as "line_rate": Option<u64> = PRESET, RATE, "40 Gbps";
        /// What of a flow without a pace may wait for the card before the sender stops.
        queue_limit_bytes as "queue_limit": Option<u64> = PRESET, Size { least: 1, most: 1 << 40 }, "4 MiB";
        /// The queue before the card: `fq` paces every flow, as `paced` does; `bbr` and `bbr3` are paced with both.
        queue: Option<HostQueue> = PRESET, Choice::<HostQueue>::any(), "fq";
        /// How long after the first packet that comes the card interrupts its host, which then takes all that have come: data
        /// as large packets (GRO), which are acknowledged once, acknowledgments one by one.
        interrupt_delay_ps as "interrupt_delay": Option<u64> = PRESET,
            Time { least: 0, most: JitterPlan::LONGEST.as_ps() }, "50 us";
        /// Acknowledgments of a connection's start that are not delayed.
        quick_acks: Option<u64> = PRESET, Whole { least: 0, most: 1_000, noun: "acknowledgments" }, 0;
        /// What a host takes at random before it handles what has come: on either side, beside the card's delay; `"none"` is
        /// nothing.
        noise: Option<Noise> = PRESET, NOISE, "pareto(mean=8 us, shape=1.5)", "exponential(mean=5 us)";
    }
}

/// What a host does beside TCP.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostModel {
    /// Rate of the card's line; none without a card.
    pub line_rate_bps: Option<u64>,
    /// What may wait for the card.
    pub queue_limit_bytes: u64,
    /// The queue before the card.
    pub queue: HostQueue,
    /// How long the card waits until it interrupts.
    pub interrupt_delay_ps: u64,
    /// Acknowledgments that are not delayed.
    pub quick_acks: u64,
    /// What a host takes at random.
    pub noise: Noise,
}

shown! { HostModel => "ResolvedHostModel", Noise => "ResolvedLaw | None", }
shown_as_words! { HostQueue }

/// The preset of hosts that do nothing.
pub const IDEAL: &str = "ideal";

/// The names of the presets.
pub const HOST_WORDS: WordOf = WordOf(&[IDEAL, "linux-1g", "linux-10g", "linux-100g", "mininet"]);

/// The presets that do something, by name.
pub static HOSTS: LazyLock<[(&str, HostModel); 4]> = LazyLock::new(|| {
    [
        ("linux-1g", linux(1, LINUX_1G_INTERRUPT_US)),
        ("linux-10g", linux(10, LINUX_10G_INTERRUPT_US)),
        ("linux-100g", linux(100, LINUX_100G_INTERRUPT_US)),
        ("mininet", mininet()),
    ]
});

/// e1000e: the class "low latency" of the default mode, 20,000 interrupts a second (Linux 6.1
/// `drivers/net/ethernet/intel/e1000e/netdev.c`, `e1000_update_itr`: "50 usec aka 20000 ints/s"). Packets of 1500 bytes at
/// 1 Gbit/s stay in it: they bring less than 10,000 bytes an interrupt. A sender whose packets of several segments are
/// counted may come into the class "bulk" of 250 us.
const LINUX_1G_INTERRUPT_US: u64 = 50;
/// ixgbe: Linux 6.1 `drivers/net/ethernet/intel/ixgbe/ixgbe_main.c`, `ixgbe_update_itr`: fewer than 4 packets and 9000 bytes
/// since the last interrupt are "latency driven"; acknowledgments of 66 bytes with their framing then come to (66 × 40 +
/// 2720) / 2 = 2680, 6 steps of 512, each 2 us. One interrupt serves what comes and what has left, and has the smaller of
/// both times (`ixgbe_set_itr`): the acknowledgments' on either side. Data alone would come to 126 us
/// (`IXGBE_ITR_ADAPTIVE_MAX_USECS`).
const LINUX_10G_INTERRUPT_US: u64 = 12;
/// mlx5: Linux 6.1 `drivers/net/ethernet/mellanox/mlx5/core/en.h`, `MLX5E_PARAMS_DEFAULT_RX_CQ_MODERATION_USEC_FROM_CQE` 8,
/// and `include/linux/dim.h`, `NET_DIM_RX_CQE_PROFILES`, with which its adaption begins (`NET_DIM_DEF_PROFILE_CQE` 1): 8 us.
const LINUX_100G_INTERRUPT_US: u64 = 8;

/// A Linux host with a card of that many Gbit/s.
fn linux(line_rate_gbps: u64, interrupt_us: u64) -> HostModel {
    HostModel {
        line_rate_bps: Some(line_rate_gbps * 1_000_000_000),
        // net/ipv4/tcp_ipv4.c (6.1), tcp_sk_init(): sysctl_tcp_limit_output_bytes = 16 * 65536. 4 MiB from 6.12 on.
        queue_limit_bytes: 16 * 65_536,
        // net/sched/sch_generic.c (6.1): default_qdisc_ops = &pfifo_fast_ops. Distributions with fq_codel pace as little.
        queue: HostQueue::Fifo,
        interrupt_delay_ps: interrupt_us * 1_000_000,
        // include/net/tcp.h (6.1): TCP_MAX_QUICKACKS 16.
        quick_acks: 16,
        // No source tells of a quiet host's: a measured one can be given.
        noise: Noise(None),
    }
}

/// A host of Mininet: a network namespace whose interface is a veth pair.
fn mininet() -> HostModel {
    HostModel {
        // drivers/net/veth.c (6.1): NETIF_F_GSO_SOFTWARE is among VETH_FEATURES, so packets cross whole.
        line_rate_bps: None,
        // the other end has the packet at once, so nothing waits: veth_xmit()
        interrupt_delay_ps: 0,
        // Virtual hosts share processors. Measured on a shared virtual machine (docs/hosts.md): how late a timer wakes a
        // thread of real-time priority; the law has the tail's index and the 99th and 99.9th percentiles.
        noise: Noise::pareto("8 us", "1.5"),
        ..linux(1, 0)
    }
}

impl Host {
    /// A preset with these keys.
    pub fn over(&self, preset: &HostModel) -> HostModel {
        HostModel {
            line_rate_bps: self.line_rate_bps.or(preset.line_rate_bps),
            queue_limit_bytes: self.queue_limit_bytes.unwrap_or(preset.queue_limit_bytes),
            queue: self.queue.unwrap_or(preset.queue),
            interrupt_delay_ps: self.interrupt_delay_ps.unwrap_or(preset.interrupt_delay_ps),
            quick_acks: self.quick_acks.unwrap_or(preset.quick_acks),
            noise: self.noise.as_ref().unwrap_or(&preset.noise).clone(),
        }
    }
}

/// The host of a name, with the keys of the table; none that is ideal.
pub fn model(name: &str, table: Option<&Host>) -> Option<HostModel> {
    let (_, preset) = HOSTS.iter().find(|(known, _)| *known == name)?;
    Some(table.map_or_else(|| preset.clone(), |table| table.over(preset)))
}

impl HostModel {
    /// Its fields with their types in Python.
    pub fn fields() -> [(&'static str, &'static str); 6] {
        [
            ("line_rate_bps", "int | None"),
            ("queue_limit_bytes", "int"),
            ("queue", "Literal[\"fifo\", \"fq\"]"),
            ("interrupt_delay_ps", "int"),
            ("quick_acks", "int"),
            ("noise", "ResolvedLaw | None"),
        ]
    }

    /// What it changes of a group's TCP, where no key does: packets have several segments, the host's own delays come in
    /// place of the stack's jitter, and `fq` paces.
    pub fn fit(&self, stack: &mut Stack, keys: &TcpKeys) {
        if !keys.has("offload") {
            stack.offload = Offload::Auto;
        }
        if !keys.has("jitter") {
            stack.jitter = Jitter(None);
        }
        if self.queue == HostQueue::Fq && !keys.has("paced") && !stack.congestion.config.needs_rates() {
            stack.connection.paced = true;
        }
    }
}
