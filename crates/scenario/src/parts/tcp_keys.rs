//! The TCP keys of a flow group: its host's and its connections'.

use bufferlab_parameters::{Kinds, Parameters, Words};
use serde_json::Value as Json;

use super::connection;
use super::stack::STACKS;
use super::tcp::{HostKeys, NamedControl, Recovery, Stack};
use crate::keys::{Key, Part, Reading, Schemas};
use crate::quantity::jitter::Jitter;
use crate::text::value::Table;

/// Keys that override the stack preset of a flow group.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpKeys {
    /// The host's.
    pub host: HostKeys,
    /// Those of the connection that were given, in the plan's form.
    connection: Vec<(&'static str, Json)>,
}

impl Part for TcpKeys {
    const NAME: &'static str = "TcpKeys";
    const DOC: &'static str = "Keys that override the stack preset of a flow group.";

    fn keys(parts: &mut Schemas) -> Vec<Key> {
        let presets: Vec<_> = STACKS.iter().map(|(_, stack)| &stack.connection).collect();
        between(HostKeys::keys(parts), connection::keys(&presets, parts))
    }

    fn fields() -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn key_names() -> Vec<&'static str> {
        between(HostKeys::key_names(), connection::parameters().map(|parameter| parameter.key).collect())
    }

    fn read_keys(table: &Table, reading: &mut Reading<'_>) -> Option<TcpKeys> {
        let (host, connection) = (HostKeys::read_keys(table, reading), connection::read(table, reading));
        Some(TcpKeys { host: host?, connection: connection? })
    }
}

/// The connection's between the two halves of the host's.
fn between<T>(mut host: Vec<T>, connection: Vec<T>) -> Vec<T> {
    host.splice(HostKeys::EARLY..HostKeys::EARLY, connection);
    host
}

impl TcpKeys {
    /// The keys that were given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        self.host.given().chain(self.connection.iter().map(|(key, _)| *key))
    }

    /// Whether a key was given.
    pub fn has(&self, key: &str) -> bool {
        self.given().any(|given| given == key)
    }

    /// A preset with these keys. A congestion control may choose the recovery, unless that is given; `newreno` with QUIC's
    /// is RFC 9002's, whose window is Reno's and whose recovery is its own. The preset's jitter
    /// goes with its recovery: with another, it would delay segments.
    pub fn over(&self, preset: &Stack) -> Stack {
        let mut stack = preset.overridden(&self.host);
        if let Some(recovery) = self.host.congestion.as_ref().and_then(recovery_of)
            && (stack.connection.recovery, recovery) != (Recovery::Quic, Recovery::NewReno)
        {
            stack.connection.recovery = recovery;
        }
        for (key, value) in &self.connection {
            stack.connection.set(key, value.clone()).expect("a kind reads what its parameter takes");
        }
        if self.host.jitter.is_none() && stack.connection.recovery != preset.connection.recovery {
            stack.jitter = Jitter(None);
        }
        stack
    }
}

/// The recovery of a control that is another's with a recovery of its own name: Tahoe and `NewReno` are Reno's.
fn recovery_of(control: &NamedControl) -> Option<Recovery> {
    let mut recoveries = Recovery::ALL.iter().copied().filter(|_| control.word != control.config.word());
    recoveries.find(|recovery| recovery.word() == control.word)
}
