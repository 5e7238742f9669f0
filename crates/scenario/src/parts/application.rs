//! What sends. A new kind is a part here, an entry of [`applications`], and what `lower` makes of it.

use bufferlab_parameters::LARGEST_PACKET;
use bufferlab_transport::MOST_HEADERS;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::keys::{
    Choice, FLAG, Key, Kind, NAME, Part, RATE, REQUIRED, Reading, Schemas, Size, Text, Time, absent, given,
    part, shown, shown_as_words, tagged_schema, tagged_table,
};
use crate::parts::video::Video;
use crate::parts::video_call::VideoCall;
use crate::quantity::format::{format_rate, format_size};
use crate::quantity::kind::{Quantity, SIZE, TURN};
use crate::quantity::law::{Law, LawKind, parse_law};
use crate::quantity::{MAX_SIZE_BYTES, PS_PER_MS, PS_PER_S, nearest_quotient};
use crate::text::meant::{meant_word, tag};
use crate::text::mistake::Mistake;
use crate::text::value::{Table, Value};

const SIZE_LAW: Text<Law> = Text::of("size or law", |value, files| parse_law(value, &SIZE, files));
const TURN_TIME: Text<Law> =
    Text::of("time or law", |value, files| during_runs(parse_law(value, &TURN, files)?, value, &TURN));
const TURN_SIZE: Text<Law> =
    Text::of("size or law", |value, files| during_runs(parse_law(value, &SIZE, files)?, value, &SIZE));

bufferlab_parameters::words! {
    /// Law of times or sizes between datagrams.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sizes {
        /// Always the mean.
        Constant = "constant",
        /// Exponential.
        Exponential = "exponential",
    }
}

bufferlab_parameters::words! {
    /// Law of arrivals.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Arrivals {
        /// At equal distances.
        Constant = "constant",
        /// A Poisson process.
        Poisson = "poisson",
    }
}

shown_as_words!(Sizes, Arrivals);
shown! { Application => "ResolvedApplication", }

/// A law that may be drawn during the run.
fn during_runs(law: Law, value: &Value, of: &Quantity) -> Result<Law, Mistake> {
    let is_drawn =
        matches!(law.kind, LawKind::Constant { .. } | LawKind::Exponential { .. } | LawKind::Pareto { .. });
    if is_drawn && !law.truncated {
        return Ok(law);
    }
    let accepted = format!("a {}, exponential(mean=) or pareto(mean=, shape=)", of.noun);
    Err(Mistake::new("is not a law that is drawn during the run").value(value).accepted(accepted))
}

part! {
    /// TCP with data that never ends.
    pub struct Bulk under "application" {}
}

part! {
    /// TCP with an amount of data to send.
    pub struct Transfer under "application" {
        /// Payload to send.
        transfer_bytes as "bytes": u64 = REQUIRED, Size { least: 1, most: MAX_SIZE_BYTES }, "2 MB";
    }
}

part! {
    /// A server's way back: what the flows of another group bring is returned as it comes.
    pub struct Echo under "application" {
        /// The group whose data is returned, flow by flow: bulk or a transfer.
        of: String = REQUIRED, NAME, "there";
    }
}

part! {
    /// TCP that has data, then none, by turns, over one connection.
    pub struct OnOff under "application" {
        /// How long it has data at a time; may be exponential or Pareto.
        on: Option<Law> = absent("this or `size`"), TURN_TIME, "exponential(mean=1 s)";
        /// How much it has at a time, in whole segments, in place of on; may be exponential or Pareto.
        size: Option<Law> = absent("this or `on`"), TURN_SIZE, "100 KB";
        /// How long it is silent then: after on, or after the last byte of size is acknowledged.
        off: Law = REQUIRED, TURN_TIME, "pareto(mean=2 s, shape=1.5)";
        either ["on", "size", "on = '1 s' or size = '100 KB'"];
    }
}

part! {
    /// Transfers that come one after the other, each over a connection of its own.
    pub struct ShortFlows under "application" {
        /// Payload of each flow; may be a distribution.
        size: Law = REQUIRED, SIZE_LAW, "pareto(mean=30 KB, shape=1.2)";
        /// Mean time between the starts of two flows.
        interval_ps as "interval": u64 = absent("this or `load`"), Time::from(1), "50 ms" => 0;
        /// Mean payload that comes a second, in place of the interval.
        load_bps as "load": Option<u64> = absent("this or `interval`"), RATE, "20 Mbps";
        /// Law of the times between starts.
        arrivals: Arrivals = given("poisson"), Choice::<Arrivals>::any(), "constant";
        either ["interval", "load", "interval = '50 ms' or load = '20 Mbps'"];
        agree one_interval;
    }
}

fn one_interval(flows: &mut ShortFlows, reading: &mut Reading<'_>) {
    let Some(load_bps) = flows.load_bps.filter(|_| flows.interval_ps == 0) else { return };
    let Some(mean) = flows.size.mean() else {
        let mistake = Mistake::new("needs the mean of the sizes, which min and max change").key("load");
        let accepted = "interval = '50 ms', or a size without min and max";
        return reading.refuse(mistake.text(format_rate(load_bps)).accepted(accepted));
    };
    let bits_ps = 8.0 * mean * PS_PER_S as f64;
    flows.interval_ps = ((bits_ps / load_bps as f64).round_ties_even() as u64).max(1);
}

part! {
    /// Fetches over TCP, one after the other, each over a connection of its own; the sender is the server.
    pub struct Web under "application" {
        /// What each fetch brings; may be exponential or Pareto.
        size: Law = REQUIRED, TURN_SIZE, "177669 B";
        /// From one fetch's start to the next one's, which waits for the last to be done.
        every: Law = REQUIRED, TURN_TIME, "2 s";
    }
}

part! {
    /// A source that does not listen to its path; its mean rate or mean interval is given.
    pub struct Udp under "application" {
        /// Mean size on the wire, headers included.
        packet_bytes as "packet": u64 = REQUIRED, Size { least: 1, most: LARGEST_PACKET }, "1000 B";
        /// Mean rate on the wire.
        rate_bps as "rate": Option<u64> = absent("this or `interval`"), RATE, "50 Mbps";
        /// Mean time between packets, in place of the rate.
        interval_ps as "interval": u64 = absent("this or `rate`"), Time::from(1), "1 s" => 0;
        /// Headers within the packet (20 bytes of IP, 8 of UDP); the rest is goodput.
        header_bytes as "header": u64 = given("28 B"), Size { least: 0, most: MOST_HEADERS }, "8 B";
        /// Law of the times between packets.
        arrivals: Arrivals = given("constant"), Choice::<Arrivals>::any(), "poisson";
        /// Law of the packet sizes.
        sizes: Sizes = given("constant"), Choice::<Sizes>::any(), "exponential";
        /// Each packet is a row of the [exchanges](#exchanges), with its delay variation and jitter; a call is rated.
        record: Option<bool> = absent("`true` for a [call](latency.md#calls)"), FLAG, true;
        either ["rate", "interval", "rate = '50 Mbps' or interval = '1 s'"];
        agree one_rate;
    }
}

/// Headers of IPv4 (20 bytes, RFC 791), UDP (8, RFC 768) and RTP (12, RFC 3550) before the speech of a call's packet.
const CALL_HEADERS_BYTES: u64 = 40;

/// Most speech in a call's packet: what receivers should accept (RFC 3551, section 4.2).
const MOST_SPEECH_PS: u64 = 200 * PS_PER_MS;

/// Most bits of speech in a second: those of G.711 (ITU-T G.711; RFC 3551, section 4.5.14).
const MOST_SPEECH_BPS: u128 = 64_000;

impl Udp {
    /// Whether each packet is recorded.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.record == Some(true)
    }

    /// Whether the packets come as those of a call: of one size, at equal distances, and no more than its codec says.
    fn is_call(&self) -> bool {
        let speech_bits = u128::from(8 * self.packet_bytes.saturating_sub(CALL_HEADERS_BYTES));
        (self.arrivals, self.sizes) == (Arrivals::Constant, Sizes::Constant)
            && speech_bits > 0
            && self.interval_ps <= MOST_SPEECH_PS
            && speech_bits * u128::from(PS_PER_S) <= MOST_SPEECH_BPS * u128::from(self.interval_ps)
    }
}

fn one_rate(udp: &mut Udp, reading: &mut Reading<'_>) {
    if let Some(rate_bps) = udp.rate_bps.filter(|_| udp.interval_ps == 0) {
        udp.interval_ps =
            nearest_quotient(8 * u128::from(udp.packet_bytes) * u128::from(PS_PER_S), rate_bps).max(1);
    }
    if udp.header_bytes > udp.packet_bytes {
        let most = format_size(udp.packet_bytes);
        let mistake =
            Mistake::new("is more than the packet").key("header").text(format_size(udp.header_bytes));
        reading.refuse(mistake.accepted(format!("at most {most}, as headers are part of the packet")));
    }
    udp.record = udp.record.or(Some(udp.is_call()));
}

part! {
    /// Packets that the receiver returns.
    pub struct Ping under "application" {
        /// Time between two packets.
        interval_ps as "interval": u64 = REQUIRED, Time::from(1), "100 ms";
        /// Size on the wire, both ways.
        packet_bytes as "packet": u64 = given("84 B"), Size { least: 1, most: LARGEST_PACKET }, "84 B";
    }
}

macro_rules! applications {
    ($($name:ident = $word:literal,)+) => {
        /// What sends.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        pub enum Application { $(#[doc = $word] #[serde(rename = $word)] $name($name),)+ }

        /// The applications by the words of scenarios.
        pub const APPLICATIONS: &[&str] = &[$($word),+];

        impl Application {
            /// The word by which scenarios name it.
            pub fn word(&self) -> &'static str {
                match self { $(Application::$name(_) => $word,)+ }
            }

            fn read(word: &str, table: &Table, reading: &mut Reading<'_>) -> Option<Application> {
                match word {
                    $($word => tagged_table::<$name>("kind", table, reading).map(Application::$name),)+
                    _ => None,
                }
            }
        }

        /// The keys of each application.
        pub fn applications(parts: &mut Schemas) -> Vec<(&'static str, &'static str, &'static str, Vec<Key>)> {
            vec![$(($word, $name::NAME, $name::DOC, $name::keys(parts)),)+]
        }

        /// The Python types of each application's fields.
        pub fn application_fields() -> Vec<(&'static str, &'static str, &'static str, Vec<(&'static str, String)>)> {
            vec![$(($word, $name::NAME, $name::DOC, $name::fields()),)+]
        }
    };
}

applications! {
    Bulk = "bulk",
    Transfer = "transfer",
    Echo = "echo",
    OnOff = "on-off",
    ShortFlows = "short-flows",
    Web = "web",
    Video = "video",
    VideoCall = "video-call",
    Udp = "udp",
    Ping = "ping",
}

impl Application {
    /// Whether it is without TCP.
    pub fn is_datagrams(&self) -> bool {
        matches!(self, Application::Udp(_) | Application::Ping(_) | Application::VideoCall(_))
    }

    /// After which time it does the same again, where its keys say so: what it does at random has no period.
    pub fn period_ps(&self) -> Option<u64> {
        match self {
            Application::Web(web) => web.every.fixed(),
            Application::Video(video) => Some(video.segment_ps),
            Application::VideoCall(call) => Some(call.frame_ps()),
            Application::Ping(ping) => Some(ping.interval_ps),
            Application::Udp(udp) => Some(udp.interval_ps).filter(|_| udp.arrivals == Arrivals::Constant),
            Application::OnOff(turns) => {
                let on_ps = turns.on.as_ref().map_or(Some(0), Law::fixed)?;
                turns.off.fixed().map(|off_ps| on_ps + off_ps)
            }
            Application::Bulk(_)
            | Application::Transfer(_)
            | Application::Echo(_)
            | Application::ShortFlows(_) => None,
        }
    }
}

/// An application: a table whose `kind` says which, or "bulk".
#[derive(Clone, Copy, Debug)]
pub struct ApplicationKind;

impl Kind for ApplicationKind {
    type Read = Application;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<Application> {
        match value {
            Value::Text(word) if word == "bulk" => Some(Application::Bulk(Bulk {})),
            Value::Table(table) => {
                let given = tag(table, "kind");
                let word = given.and_then(|entry| entry.node.value.as_text());
                let Some(word) = word.filter(|word| APPLICATIONS.contains(word)) else {
                    let mistake = match given {
                        Some(entry) => refused("is not a known kind", &entry.node.value),
                        None => Mistake::new("is required"),
                    };
                    let key = given.map_or("kind", |entry| &entry.name);
                    reading.refuse(mistake.key(key).accepted(APPLICATIONS.join(", ")));
                    return None;
                };
                Application::read(word, table, reading)
            }
            other => {
                let kinds = APPLICATIONS.join(", ");
                let accepted = format!("'bulk', or a table whose kind is one of {kinds}");
                reading.refuse(refused("is not accepted here", other).accepted(accepted));
                None
            }
        }
    }

    fn schema(&self, parts: &mut Schemas) -> Json {
        let mut references = Vec::new();
        for (word, name, doc, keys) in applications(parts) {
            references.push(tagged_schema(
                ("kind", "Kind of the application."),
                word,
                name,
                doc,
                &keys,
                parts,
            ));
        }
        json!({"anyOf": [{"enum": ["bulk"]}, {"oneOf": references}]})
    }

    fn words(&self) -> String {
        "`\"bulk\"` or a table, see [below](#application)".to_owned()
    }

    fn python(&self) -> String {
        "ApplicationDict | Literal[\"bulk\"]".to_owned()
    }
}

/// Applications by their kinds and by words of plain speech, and how scenarios write them.
const WRITTEN: &[(&str, &str)] = &[
    ("bulk backup download downloads elephant ftp greedy iperf iperf3 tcp upload uploads", "\"bulk\""),
    ("transfer file files", "{ kind = \"transfer\", bytes = \"2 MB\" }"),
    ("on-off burst bursts bursty onoff", "{ kind = \"on-off\", size = \"1 MB\", off = \"4 s\" }"),
    (
        "short-flows mice short",
        "{ kind = \"short-flows\", size = \"pareto(mean=30 KB, shape=1.2)\", load = \"4 Mbps\" }",
    ),
    (
        "web browser browsing http https page pages",
        "{ kind = \"web\", size = \"177669 B\", every = \"2 s\" }",
    ),
    ("video dash hls netflix stream streaming youtube", "{ kind = \"video\" }"),
    (
        "video-call conference conferencing facetime gcc meet meeting skype teams videocall webrtc zoom",
        "{ kind = \"video-call\" }",
    ),
    (
        "call calls phone rtp telephony voice voip",
        "{ kind = \"udp\", packet = \"200 B\", interval = \"20 ms\" }",
    ),
    ("udp cbr datagrams", "{ kind = \"udp\", packet = \"1000 B\", rate = \"1 Mbps\" }"),
    ("ping icmp pings", "{ kind = \"ping\", interval = \"100 ms\" }"),
    ("echo", "{ kind = \"echo\", of = \"there\" }"),
];

/// The mistake of what is no application, with the one that was meant as scenarios write it.
fn refused(problem: &str, value: &Value) -> Mistake {
    let word = value.as_text().map(str::to_lowercase).unwrap_or_default();
    let words = WRITTEN.iter().flat_map(|(words, _)| words.split(' '));
    let meant = meant_word(&word, &words.collect::<Vec<_>>());
    let written = WRITTEN.iter().find(|(words, _)| words.split(' ').any(|each| Some(each) == meant));
    let hint = written.map_or(String::new(), |(_, written)| format!(" (did you mean {written}?)"));
    Mistake::new(format!("{problem}{hint}")).value(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::empirical::NoFiles;
    use crate::text::places::Places;

    #[test]
    fn each_application_is_written_as_one_that_is_read() {
        for (words, written) in WRITTEN {
            let places = Places::default();
            let mut reading = Reading::new(&NoFiles, &places);
            let read = ApplicationKind.read(&crate::keys::toml(written), &mut reading);
            assert!(read.is_some() && !reading.has_failed(), "{words}");
        }
        let known: Vec<&str> = WRITTEN.iter().filter_map(|(words, _)| words.split(' ').next()).collect();
        assert!(APPLICATIONS.iter().all(|kind| known.contains(kind)));
    }
}
