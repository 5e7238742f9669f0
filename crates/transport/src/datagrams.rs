//! What sends datagrams: a source that does not listen to its path, or a call that does.

use bufferlab_units::Time;

use crate::{CallSender, UdpSource};

/// A source of datagrams.
#[derive(Clone, Debug)]
pub enum DatagramSource {
    /// It does not listen.
    Deaf(Box<UdpSource>),
    /// It follows reports.
    Call(Box<CallSender>),
}

impl DatagramSource {
    /// Starts it.
    pub fn start(&mut self, now: Time) {
        match self {
            DatagramSource::Deaf(source) => source.start(now),
            DatagramSource::Call(call) => call.start(now),
        }
    }

    /// Ends it.
    pub fn stop(&mut self) {
        match self {
            DatagramSource::Deaf(source) => source.stop(),
            DatagramSource::Call(call) => call.stop(),
        }
    }

    /// When the next packet goes.
    pub fn deadline(&self) -> Time {
        match self {
            DatagramSource::Deaf(source) => source.deadline(),
            DatagramSource::Call(call) => call.deadline(),
        }
    }

    /// Packets sent.
    pub fn sent(&self) -> u64 {
        match self {
            DatagramSource::Deaf(source) => source.sent(),
            DatagramSource::Call(call) => call.sent(),
        }
    }

    /// The packet that goes at `now`: from when on its data is there, and its size on the wire, bytes.
    pub fn emit(&mut self, now: Time) -> (Time, u32) {
        match self {
            DatagramSource::Deaf(source) => (now, source.emit()),
            DatagramSource::Call(call) => call.emit(now),
        }
    }

    /// The call, if it is one.
    pub fn call(&mut self) -> Option<&mut CallSender> {
        match self {
            DatagramSource::Deaf(_) => None,
            DatagramSource::Call(call) => Some(call),
        }
    }
}
