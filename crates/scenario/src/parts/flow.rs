//! Groups of flows.

use super::MAX_FLOWS;
use super::application::{Application, ApplicationKind};
use super::host::{HOST_WORDS, HostModel};
use super::stack::STACK_WORDS;
use super::tcp::Stack;
use super::tcp_keys::TcpKeys;
use crate::keys::{Fraction, NAME, Names, RATE, REQUIRED, Reading, Text, Whole, absent, given, part};
use crate::quantity::dscp::{parse_dscp, schema as dscp_schema};
use crate::quantity::format::format_time;
use crate::quantity::kind::TIME;
use crate::quantity::law::{Law, LawKind, parse_law};
use crate::text::mistake::Mistake;
use crate::text::value::Value;

const TIME_LAW: Text<Law> = Text::of("time or law", |value, files| parse_law(value, &TIME, files));

const DSCP: Text<u64> = Text {
    parse: |value, _| parse_dscp(value),
    words: "`\"EF\"`, `\"AF41\"`, `\"CS1\"`, `\"LE\"`, …, or 0 to 63",
    schema: Some(dscp_schema),
    python: "str | int",
};

part! {
    /// A group of flows that share everything but what is drawn at random.
    pub struct Flow under "flows" {
        include keys: TcpKeys;
        /// Name of the group.
        name: String = absent("`\"flows0\"`, `\"flows1\"`, …"), NAME, "short" => String::new();
        /// Number of flows.
        count: u64 = given(1), Whole { least: 1, most: MAX_FLOWS, noun: "flows (of all groups together)" }, 50;
        /// Two-way propagation delay in all, that of the links included; may be a distribution.
        rtt: Law = REQUIRED, TIME_LAW, "100 ms", "uniform(0 s, 5 s)", "lognormal(mean=130 ms, sigma=0.2, min=20 ms)";
        /// Spaces the flows' rtt evenly over rtt × (1 − s) … rtt × (1 + s).
        rtt_spread: f64 = given(0.0), Fraction { most: 1.0, inclusive: false, noun: "a share of the rtt" }, 0.2;
        /// Links that data crosses, in order; required with several links.
        path: Vec<String> = absent("the only link"), Names { of: "links", least: 1 }, ["west", "east"] => Vec::new();
        /// Links in whose queues acknowledgments wait, in order; without any their way back is a pure delay.
        reverse_path: Vec<String> = given(Value::List(Vec::new())), Names { of: "links", least: 0 }, ["back"];
        /// Rate of the sender's own interface.
        access_rate_bps as "access_rate": Option<u64> = absent("no bound"), RATE, "10 Gbps";
        /// Differentiated services codepoint of its packets, for queues with classes.
        dscp: u64 = given("CS0"), DSCP, "EF", "CS1";
        /// Host that sends, for queues that share among hosts; groups with the same name have it together.
        sender: Option<String> = absent("each flow has its own"), NAME, "server";
        /// Host that receives.
        receiver: Option<String> = absent("each flow has its own"), NAME, "laptop";
        /// First packet; may be a distribution.
        start: Law = absent("`\"0 s\"`, or [spread over a period](#starts)"), TIME_LAW, "uniform(0 s, 5 s)"
            => Law::constant(0, "", &TIME);
        /// No new data from here on.
        stop: Option<Law> = absent("the run's end"), TIME_LAW, "400 s";
        /// What sends.
        application: Application = given("bulk"), ApplicationKind,
            crate::keys::toml("{ kind = \"transfer\", bytes = \"2 MB\" }");
        /// [Preset](#stack-presets) of the TCP keys of this group.
        stack: Option<&'static str> = absent("`run.stack`"), STACK_WORDS, "linux";
        /// [Preset](#hosts) of what this group's hosts do beside TCP.
        host: Option<&'static str> = absent("`run.host`"), HOST_WORDS, "linux-10g";
        also
        /// The TCP that its keys and its preset come to; none without TCP.
        tcp: Option<Stack>;
        also
        /// What its hosts do beside TCP; none if they are ideal.
        host_model: Option<HostModel>;
        agree agree;
    }
}

impl Flow {
    /// When its flows start, as stated. If nothing is stated, flows that act by turns are spread over a period, each with a
    /// phase of its own as different users have it; otherwise all would act in the same instants for ever, and nothing in
    /// the run would be random. All others start at once, and so do those whose period does not end within the run.
    pub fn starts(&self, duration_ps: u64) -> Law {
        if !self.start.text.is_empty() {
            return self.start.clone();
        }
        let end_ps =
            self.stop.as_ref().map_or(Some(duration_ps), |stop| stop.fixed().map(|ps| ps.min(duration_ps)));
        let period_ps = self.application.period_ps().filter(|_| self.count > 1);
        match period_ps.filter(|period_ps| end_ps.is_some_and(|end_ps| *period_ps < end_ps)) {
            Some(high) => {
                let text = format!("uniform(0 s, {})", format_time(high));
                Law { kind: LawKind::Uniform { low: 0, high }, ..Law::constant(0, text, &TIME) }
            }
            None => Law::constant(0, "0 s", &TIME),
        }
    }
}

fn agree(flow: &mut Flow, reading: &mut Reading<'_>) {
    if flow.rtt_spread > 0.0 && flow.rtt.fixed().is_none() {
        let mistake = Mistake::new("does not go with a random rtt").key("rtt_spread");
        reading.refuse(mistake.value(&Value::Float(flow.rtt_spread)).accepted("one rtt, or 0"));
    }
    match &flow.application {
        Application::Udp(_) => refuse_tcp_keys(flow, "udp", reading),
        Application::Ping(_) => refuse_tcp_keys(flow, "ping", reading),
        Application::VideoCall(_) => refuse_tcp_keys(flow, "video-call", reading),
        Application::ShortFlows(_) => refuse_for_short_flows(flow, reading),
        Application::Echo(_) if flow.start.fixed() != Some(0) => {
            let accepted = "no start: it begins with the group that it returns";
            let mistake = Mistake::new("means nothing to an echo").key("start").text(&flow.start.text);
            reading.refuse(mistake.accepted(accepted));
        }
        _ => {}
    }
    if let Some(stop) = &flow.stop
        && let (Some(stop_ps), Some(start_ps)) = (stop.fixed(), flow.start.fixed())
        && stop_ps <= start_ps
    {
        let mistake = Mistake::new("is not after the start").key("stop").text(&stop.text);
        reading.refuse(mistake.accepted(format!("after {}", format_time(start_ps))));
    }
}

fn refuse_tcp_keys(flow: &Flow, kind: &str, reading: &mut Reading<'_>) {
    let others = [
        ("stack", flow.stack.is_some()),
        ("host", flow.host.is_some()),
        ("reverse_path", !flow.reverse_path.is_empty() && kind == "udp"),
    ];
    let others = others.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key);
    for key in flow.keys.given().chain(others) {
        let mistake = Mistake::new(format!("means nothing to a {kind} application")).key(key);
        reading.refuse(mistake.accepted("no TCP keys here"));
    }
}

/// One process of arrivals makes the flows, and flows that come later are no other kind of flows.
fn refuse_for_short_flows(flow: &Flow, reading: &mut Reading<'_>) {
    let refused = |key: &str| Mistake::new("means nothing to short-flows").key(key);
    if flow.count != 1 {
        let accepted = "no count: the interval or load of the application says how many flows come";
        reading.refuse(refused("count").value(&Value::from(flow.count)).accepted(accepted));
    }
    if flow.rtt_spread > 0.0 {
        let accepted = "an rtt such as 'uniform(20 ms, 60 ms)', from which each flow draws its own";
        reading.refuse(refused("rtt_spread").value(&Value::Float(flow.rtt_spread)).accepted(accepted));
    }
}
