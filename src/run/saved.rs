//! The state of one shard as bytes and back.

use super::shard::{Shard as _, WorldShard};
use crate::cycle::View;
use crate::cycle::state::{Message, Work};
use crate::fabric::{InPort, OutLane, OutPort, Packet, PacketRecord, Queue, Switch};
use serde::{Deserialize, Serialize};

/// All that changes in a shard, borrowed.
#[derive(Serialize)]
struct Columns<'a, const W: usize> {
    switches: &'a [Switch<W>],
    outs: &'a [OutPort],
    ins: &'a [InPort],
    lanes: &'a [OutLane<W>],
    queues: &'a [Queue],
    packets: &'a [Packet],
    records: &'a [PacketRecord],
    work: &'a Work,
    inbox: &'a [Message],
}

/// The same, owned.
#[derive(Deserialize)]
struct Saved<const W: usize> {
    switches: Vec<Switch<W>>,
    outs: Vec<OutPort>,
    ins: Vec<InPort>,
    lanes: Vec<OutLane<W>>,
    queues: Vec<Queue>,
    packets: Vec<Packet>,
    records: Vec<PacketRecord>,
    work: Work,
    inbox: Vec<Message>,
}

/// The state of a shard.
///
/// # Errors
/// When it has no form as bytes, which no state has shown.
pub(super) fn save<const W: usize>(
    view: &View<'_, W>,
    inbox: &[Message],
) -> Result<Vec<u8>, String> {
    let columns = Columns {
        switches: view.switches,
        outs: view.outs,
        ins: view.ins,
        lanes: view.lanes,
        queues: view.queues,
        packets: view.packets,
        records: view.records,
        work: view.work,
        inbox,
    };
    postcard::to_stdvec(&columns).map_err(|cause| cause.to_string())
}

/// Takes over a saved state; `shard` is as built.
///
/// # Errors
/// What does not fit this shard.
pub(super) fn restore<const W: usize>(
    shard: &mut WorldShard<W>,
    bytes: &[u8],
    fork: bool,
) -> Result<(), String> {
    let saved: Saved<W> = postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
    let size = shard.state().work.pool_size as usize;
    let packets = saved.packets.len();
    if packets < size || saved.records.len() != packets || saved.work.pool_size as usize != packets
    {
        return Err(String::from("its packet pool does not fit"));
    }
    shard.grow_pool(packets - size);
    shard.with_view(|view, inbox| {
        let fits = view.switches.len() == saved.switches.len()
            && view.outs.len() == saved.outs.len()
            && view.ins.len() == saved.ins.len()
            && view.lanes.len() == saved.lanes.len()
            && view.queues.len() == saved.queues.len();
        if !fits {
            return Err(String::from("its rows do not fit the fabric"));
        }
        view.switches.clone_from_slice(&saved.switches);
        view.outs.clone_from_slice(&saved.outs);
        view.ins.clone_from_slice(&saved.ins);
        view.lanes.clone_from_slice(&saved.lanes);
        view.queues.clone_from_slice(&saved.queues);
        view.packets.copy_from_slice(&saved.packets);
        view.records.copy_from_slice(&saved.records);
        let built = std::mem::replace(view.work, saved.work);
        *inbox = saved.inbox;
        if fork {
            view.work.branch(built, view.now, &view.shared.0.saturating);
        } else {
            view.work.records.observe_as(built.records);
        }
        Ok(())
    })
}
