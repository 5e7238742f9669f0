//! The engine for WebAssembly: the text of a scenario goes in, samples and tables come out. No logic.
//!
//! An instance of the module is one run. Numbers are passed as they are; everything else lies in two buffers of the module's
//! memory: the caller writes to the one that [`lab_input`] makes room in, and reads what a call left at
//! [`lab_output`], [`lab_output_length`] bytes. A call that can fail returns 0 if it did not; if it did, its output is JSON, a
//! list of [`Problem`]s. The module imports nothing. Callers must throw away an instance that trapped; what a panic said is
//! then its output.
//!
//! A plain C interface, since it needs no tool beyond the compiler.

#![expect(unsafe_code, reason = "exported names are unsafe attributes; there is no unsafe block")]

mod asked;
mod call;
mod captured;
mod frames;
mod inside;
mod rules;
mod sampled;
mod summary;
mod tables;

use std::cell::{Cell, RefCell};
use std::panic;

use bufferlab_simulator::{Control, Outcome, Plan, QueuePlan, Session};
use serde::Serialize;

use asked::Problem;

#[derive(Default)]
struct Lab {
    input: Vec<u8>,
    output: Vec<u8>,
    plan: Option<Plan>,
    session: Option<Session>,
    tables: tables::Tables,
}

thread_local! {
    static LAB: RefCell<Lab> = RefCell::default();
    /// Where what a panic says begins, and its length: the lab itself may be borrowed then.
    static LAST_WORDS: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Makes room for that many bytes of input; returns where.
#[unsafe(no_mangle)]
pub extern "C" fn lab_input(length: usize) -> *mut u8 {
    panic::set_hook(Box::new(|fault| LAST_WORDS.set(Some(fault.to_string().leak()))));
    with(|lab| {
        lab.input = vec![0; length];
        lab.input.as_mut_ptr()
    })
}

/// Where the last call's output is.
#[unsafe(no_mangle)]
pub extern "C" fn lab_output() -> *const u8 {
    LAST_WORDS.get().map_or_else(|| with(|lab| lab.output.as_ptr()), str::as_ptr)
}

/// Its length in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn lab_output_length() -> usize {
    LAST_WORDS.get().map_or_else(|| with(|lab| lab.output.len()), str::len)
}

/// Reads what was asked ([`asked::Asked`], as JSON) and says what it is ([`asked::Answer`]). A run under way is not touched.
#[unsafe(no_mangle)]
pub extern "C" fn lab_read() -> i32 {
    with(|lab| {
        let read = asked::read(&lab.input).map(|(plan, answer)| {
            lab.plan = Some(plan);
            answer
        });
        lab.answer(&read)
    })
}

/// Takes a plan, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn lab_plan() -> i32 {
    with(|lab| {
        let read = serde_json::from_slice(&lab.input).map_err(|error| vec![Problem::of(&error)]);
        let read = read.map(|plan| lab.plan = Some(plan));
        lab.answer(&read)
    })
}

/// Begins a run of what was read last, in the place of any other.
#[unsafe(no_mangle)]
pub extern "C" fn lab_begin() -> i32 {
    with(|lab| {
        lab.session = None;
        let plan = lab.plan.as_ref().ok_or_else(|| vec![Problem::of(&"nothing was read")]);
        let begun = plan.and_then(|plan| Session::new(plan).map_err(|error| vec![Problem::of(&error)]));
        let begun = begun.map(|session| lab.session = Some(session));
        lab.answer(&begun)
    })
}

/// Runs up to a moment, or to the plan's end; returns the moment reached, ps.
#[unsafe(no_mangle)]
pub extern "C" fn lab_advance(until_ps: u64) -> u64 {
    with(|lab| {
        let session = lab.session.as_mut();
        session.map_or(0, |session| {
            session.advance(until_ps, &Control::default());
            session.now_ps()
        })
    })
}

/// Gives a link the limit that the input has, as JSON of the plan's form, from now on.
#[unsafe(no_mangle)]
pub extern "C" fn lab_set_limit(link: usize) -> i32 {
    with(|lab| {
        let limit = serde_json::from_slice(&lab.input).map_err(|error| vec![Problem::of(&error)]);
        let session = lab.session.as_mut().ok_or_else(|| vec![Problem::of(&"nothing runs")]);
        let set = limit
            .and_then(|limit| session?.set_limit(link, limit).map_err(|error| vec![Problem::of(&error)]));
        lab.answer(&set)
    })
}

/// Gives a link's discipline the parameters that the input has, as JSON of the plan's form, from now on.
#[unsafe(no_mangle)]
pub extern "C" fn lab_set_discipline(link: usize) -> i32 {
    with(|lab| {
        let read: Result<QueuePlan, _> =
            serde_json::from_slice(&lab.input).map_err(|error| vec![Problem::of(&error)]);
        let session = lab.session.as_mut().ok_or_else(|| vec![Problem::of(&"nothing runs")]);
        let set = read.and_then(|plan| {
            session?.set_discipline(link, &plan.config).map_err(|error| vec![Problem::of(&error)])
        });
        lab.answer(&set)
    })
}

/// How long packets have waited at a link: numbers of 64 bits, a bound in seconds and how many packets waited no longer
/// and for longer than the bound before, and so on.
#[unsafe(no_mangle)]
pub extern "C" fn lab_waits(link: usize) -> i32 {
    with(|lab| {
        let session = lab.session.as_mut().ok_or_else(|| vec![Problem::of(&"nothing runs")]);
        let waits =
            session.and_then(|session| session.waits(link).map_err(|error| vec![Problem::of(&error)]));
        match waits {
            Ok(waits) => {
                let numbers = waits.into_iter().flat_map(|(ps, count)| [ps as f64 / 1e12, count as f64]);
                lab.output = numbers.flat_map(f64::to_le_bytes).collect();
                0
            }
            Err(problems) => lab.answer::<()>(&Err(problems)),
        }
    })
}

/// Runs what was read last once more, to its end, and gives the packets that senders send and get as pcapng, `most` at most. A run
/// under way is not touched.
#[unsafe(no_mangle)]
pub extern "C" fn lab_capture(most: u32) -> i32 {
    with(|lab| {
        let plan = lab.plan.as_ref().ok_or_else(|| vec![Problem::of(&"nothing was read")]);
        match plan.and_then(|plan| captured::of(plan, most).map_err(|error| vec![Problem::of(&error)])) {
            Ok(bytes) => {
                lab.output = bytes;
                0
            }
            Err(problems) => lab.answer::<()>(&Err(problems)),
        }
    })
}

/// What can be seen now: numbers of 64 bits, as [`sampled`] says.
#[unsafe(no_mangle)]
pub extern "C" fn lab_sample() -> i32 {
    with(|lab| {
        let (Some(session), Some(plan)) = (&mut lab.session, &lab.plan) else {
            return lab.answer::<()>(&Err(vec![Problem::of(&"nothing runs")]));
        };
        match sampled::sample(session, plan) {
            Ok(numbers) => {
                lab.output = numbers.into_iter().flat_map(f64::to_le_bytes).collect();
                0
            }
            Err(error) => lab.answer::<()>(&Err(vec![Problem::of(&error)])),
        }
    })
}

/// What the discipline of a link has inside now ([`inside::Inside`], as JSON).
#[unsafe(no_mangle)]
pub extern "C" fn lab_inside(link: usize) -> i32 {
    with(|lab| {
        let session = lab.session.as_mut().ok_or_else(|| vec![Problem::of(&"nothing runs")]);
        let read =
            session.and_then(|session| inside::of(session, link).map_err(|error| vec![Problem::of(&error)]));
        lab.answer(&read)
    })
}

/// Ends the run, and says which tables it has ([`tables::Head`]).
#[unsafe(no_mangle)]
pub extern "C" fn lab_finish() -> i32 {
    with(|lab| {
        let session = lab.session.take().zip(lab.plan.as_ref());
        let finished = session.ok_or_else(|| vec![Problem::of(&"nothing runs")]).map(|(session, plan)| {
            let outcome: Outcome = session.finish(&Control::default());
            let (head, tables) = tables::of(outcome, plan);
            lab.tables = tables;
            head
        });
        lab.answer(&finished)
    })
}

/// A column of a table, both by their number: its values in little-endian order.
#[unsafe(no_mangle)]
pub extern "C" fn lab_column(table: usize, column: usize) -> i32 {
    with(|lab| {
        let found = lab.tables.get(table).and_then(|columns| columns.get(column));
        match found {
            Some(column) => {
                lab.output = tables::bytes(column);
                0
            }
            None => lab.answer::<()>(&Err(vec![Problem::of(&"no such column")])),
        }
    })
}

fn with<T>(work: impl FnOnce(&mut Lab) -> T) -> T {
    LAB.with_borrow_mut(work)
}

impl Lab {
    fn answer<T: Serialize>(&mut self, result: &Result<T, Vec<Problem>>) -> i32 {
        let (status, output) = match result {
            Ok(answer) => (0, serde_json::to_vec(answer)),
            Err(problems) => (1, serde_json::to_vec(problems)),
        };
        self.output = output.expect("names, numbers and texts are JSON");
        status
    }
}
