//! How the control packets of a class go: as packets, or by a control network beside the data network (D49), where broadcasts
//! go, too (D68).

use super::control::Answers;
use crate::control::Algorithm;
use crate::plan;
use crate::scenario::print::Printer;
use crate::scenario::resolve::quantity::delay;
use crate::scenario::sections::values::{Read, time};
use crate::scenario::syntax::{At, Fields, Item, Mistake, Part};
use crate::units::{Clock, Time};

section! {
    /// A control network beside the data network, of a class of its own: one server per channel, first in first out.
    OutOfBand = "out_of_band" in "traffic[...].answers.transport: OutOfBand(...)" {
        /// What a control packet takes of a channel
        serialisation: At<Time> = time, "time, at least 1 cycle";
        /// What the visit of an agent adds to it at a switch output
        processing: At<Time> = time, "time";
        /// From the arrival at a switch to the queue of its output
        routing: At<Time> = time, "time";
        /// From the end of a service to the far end of the channel
        propagation: At<Time> = time, "time, at least 1 cycle";
        /// Times of broadcasts, of algorithms whose switches and hosts have elements
        broadcast: Option<At<Broadcast>> = Broadcast::read, "None | section" or None;
    }
}

section! {
    /// Broadcasts of an algorithm whose switches and hosts have elements: copies from element to element, each over one channel.
    Broadcast = "broadcast" in "traffic[...].answers.transport: OutOfBand(broadcast: (...))" {
        /// What a copy takes of a channel
        serialisation: At<Time> = time, "time, at least 1 cycle";
        /// What it takes of the input of a switch before it is heard
        processing: At<Time> = time, "time, at least 1 cycle";
    }
}

/// The way of control packets.
#[derive(Clone, Debug, PartialEq)]
pub enum Transport {
    /// They are packets.
    InBand,
    /// They have a network of their own.
    OutOfBand(Box<OutOfBand>),
}

impl Transport {
    pub(super) fn read(item: &Item<'_>) -> Read<Self> {
        match item.variant() {
            Some(("InBand", None)) => Ok(Self::InBand),
            Some(("OutOfBand", Some(arguments))) => {
                OutOfBand::read(&arguments).map(Box::new).map(Self::OutOfBand)
            }
            Some(("OutOfBand", None)) => Err(item.mistake(
                "`OutOfBand` needs its times: `OutOfBand(serialisation: time, processing: time, routing: time, propagation: time)`",
            )),
            _ => Err(item.unexpected("`InBand` or `OutOfBand(...)`")),
        }
    }

    /// In cycles.
    pub(super) fn plan(&self, clock: Clock) -> Result<Option<plan::OutOfBand>, Mistake> {
        let Self::OutOfBand(times) = self else {
            return Ok(None);
        };
        Ok(Some(plan::OutOfBand {
            serialisation: delay(&times.serialisation, clock, 1)?,
            processing: delay(&times.processing, clock, 0)?,
            routing: delay(&times.routing, clock, 0)?,
            propagation: delay(&times.propagation, clock, 1)?,
            broadcast: match &times.broadcast {
                Some(broadcast) => Some(broadcast.value.plan(clock)?),
                None => None,
            },
        }))
    }

    /// Elements hear broadcasts, which go out of band and take times that are given; others have none.
    pub(super) fn check_elements(
        this: &At<Self>,
        part: &Part,
        own: &Algorithm,
    ) -> Result<(), Mistake> {
        let name = &part.name.value;
        match &this.value {
            Self::OutOfBand(times) => match &times.broadcast {
                Some(broadcast) if !own.has_elements() => Err(broadcast.mistake(format!(
                    "`{name}` broadcasts nothing: expected no `broadcast`"
                ))),
                None if own.has_elements() => Err(this.mistake(format!(
                    "`{name}` broadcasts: `OutOfBand` needs `broadcast: (serialisation: time, processing: time)`, too"
                ))),
                _ => Ok(()),
            },
            Self::InBand if own.has_elements() => Err(part.name.mistake(format!(
                "`{name}` broadcasts, which goes by a control network: expected `answers: (transport: OutOfBand(...))` with \
                 `broadcast: (serialisation: time, processing: time)` among its times"
            ))),
            Self::InBand => Ok(()),
        }
    }

    /// As the plan has it.
    pub(super) fn print(times: plan::OutOfBand, printer: &mut Printer) {
        printer.block("transport: OutOfBand(", "),", |printer| {
            printer.cycles("serialisation", times.serialisation);
            printer.cycles("processing", times.processing);
            printer.cycles("routing", times.routing);
            printer.cycles("propagation", times.propagation);
            match times.broadcast {
                None => printer.key("broadcast", "None"),
                Some(times) => printer.block("broadcast: (", "),", |printer| {
                    printer.cycles("serialisation", times.serialisation);
                    printer.cycles("processing", times.processing);
                }),
            }
        });
    }
}

impl Broadcast {
    fn plan(&self, clock: Clock) -> Result<plan::Broadcast, Mistake> {
        Ok(plan::Broadcast {
            serialisation: delay(&self.serialisation, clock, 1)?,
            processing: delay(&self.processing, clock, 1)?,
        })
    }
}

impl Answers {
    /// What has no lane and no flits has no service level and no size.
    pub(super) fn check_transport(&self, fields: &Fields<'_>) -> Result<(), Mistake> {
        if self.transport.value == Transport::InBand {
            return Ok(());
        }
        for key in ["size", "sl"] {
            if let Some(item) = fields.get(key) {
                return Err(item.mistake(format!(
                    "control packets out of band have no `{key}`: `serialisation` says what each takes of a channel"
                )));
            }
        }
        match &self.queue {
            Some(queue) => Err(queue.mistake(
                "control packets out of band have no `queue`: they wait for no channel of the data network",
            )),
            None => Ok(()),
        }
    }
}
