//! Laws that hold of every fabric, each broken by a change of the state: what a fault of the cycle would leave behind.

use super::halted::Halted;
use crate::cycle::records::{Records, Totals};
use crate::cycle::state::{Calendar, Mail, PacketPool};
use crate::fabric::components::{OutLane, OutPort, Packet, PacketRecord, Queue};
use crate::fabric::rows::{PacketRow, Row};
use crate::fabric::source_queue::SourceQueues;

/// Twelve hosts that ask for more than the links between three switches carry.
const BUSY: &str = "Scenario(
    title: \"busy\", seed: 5,
    fabric: (topology: Complete(switches: 3, hosts_per_switch: 4), flit: \"64 B\",
             link: (rate: \"100 Gbit/s\", latency: \"7 cycles\"),
             switch: (lanes: 2, lane_capacity: \"16 flits\", SHARING)),
    routing: MinHop(),
    traffic: [(name: \"all\", pattern: Uniform, process: Bernoulli(load: 0.9), size: \"4 flits\")],
    phases: (warmup: \"0 cycles\", measure: \"2000 cycles\"),
)";

fn busy(shards: usize) -> Halted {
    Halted::new(&BUSY.replace(", SHARING", ""), 400, shards)
}

impl Halted {
    fn totals(&mut self, act: fn(&mut Totals)) {
        self.resource(|records: &mut Records| act(&mut records.totals));
    }
}

#[test]
fn packets_come_from_nothing_or_are_lost() {
    let changes: [(fn(&mut Totals), &str); 8] = [
        (|totals| totals.created += 1, "packets were created, but"),
        (|totals| totals.created -= 1, "packets were created, but"),
        (|totals| totals.delivered += 1, "delivered"),
        (|totals| totals.delivered -= 1, "delivered"),
        (|totals| totals.dropped += 1, "1 dropped"),
        (|totals| totals.dropped += 3, "3 dropped"),
        (|totals| totals.rejected += 1, "1 rejected"),
        (|totals| totals.rejected += 2, "2 rejected"),
    ];
    for (change, part) in changes {
        let mut halted = busy(1);
        halted.totals(change);
        halted.breaks(&["are accounted for", part]);
    }
}

#[test]
fn what_waits_at_a_host_is_counted_one_by_one() {
    let mut halted = busy(1);
    let (queue, lost) = halted.resource(|queues: &mut SourceQueues| {
        let queue = (0..24).find(|&queue| queues.front(queue).is_some());
        let queue = queue.expect("hosts wait");
        (queue, queues.pop(queue).expect("a packet").0)
    });
    halted.breaks(&["packets were created", "waiting"]);
    halted.resource(|queues: &mut SourceQueues| queues.push(queue, lost));
    halted.hold();
    halted.resource(SourceQueues::forget_one);
    halted.breaks(&["source queues count", "packets and have"]);
}

#[test]
fn a_packet_of_the_fabric_has_a_place() {
    let mut halted = busy(1);
    halted.change_grouped(|queue: &mut Queue| {
        let is_some = queue.head != PacketRow::NONE;
        (queue.head, queue.tail) = (PacketRow::NONE, PacketRow::NONE);
        is_some
    });
    halted.breaks(&["packets are in the fabric", "have a place"]);
}

#[test]
fn a_packet_is_in_one_place() {
    let mut halted = busy(1);
    let mut heads = Vec::new();
    halted.simulation.grouped_mut::<Queue>(|_, queues| {
        heads.extend(queues.iter().map(|queue| queue.head));
    });
    heads.retain(|&head| head != PacketRow::NONE);
    let twice = heads[0];
    halted.resource(|calendar: &mut Calendar| calendar.at(405).deliveries.push(twice));
    halted.breaks(&[&format!("packet row {} is in two places", twice.0)]);
}

#[test]
fn a_place_has_a_packet() {
    let mut halted = busy(1);
    let mut head = PacketRow::NONE;
    halted.change_grouped(|queue: &mut Queue| {
        head = queue.head;
        head != PacketRow::NONE
    });
    // as many are in use as before, but not the same
    halted.resource(|pool: &mut PacketPool| {
        pool.claim();
        pool.release(head);
    });
    halted.breaks(&[&format!("packet row {} has a place and no packet", head.0)]);
}

/// Changes the credits of every lane in turn: those that are counted break their law, by name.
fn credits<const W: usize>(sharing: &str, change: fn(&mut OutLane<W>)) {
    let text = BUSY.replace("SHARING", sharing);
    let (mut halted, mut counted) = (Halted::new(&text, 400, 1), 0);
    let mut before = Vec::new();
    halted
        .simulation
        .grouped_mut::<OutLane<W>>(|_, lanes| before.extend_from_slice(lanes));
    let mut is_boundless = Vec::new();
    halted.simulation.columns_mut::<OutPort>(|_, ports| {
        is_boundless.extend(ports.iter().map(OutPort::is_boundless));
    });
    let lanes = before.len() / is_boundless.len();
    // rows of no port end the last group
    before.truncate(lanes * is_boundless.len());
    for (row, lane) in before.iter().enumerate() {
        let mut changed = lane.clone();
        change(&mut changed);
        (halted.simulation).grouped_mut::<OutLane<W>>(|_, lanes| lanes[row] = changed.clone());
        let is_shared = sharing.contains("PortPool") && row % lanes > 0;
        if is_boundless[row / lanes] || is_shared {
            halted.hold();
        } else {
            halted.breaks(&["credits of lane", " to ", "is not the capacity 16"]);
            counted += 1;
        }
        (halted.simulation).grouped_mut::<OutLane<W>>(|_, lanes| lanes[row] = lane.clone());
    }
    // six channels between switches, one from and one to each of twelve hosts
    let lanes = if sharing.contains("PortPool") { 1 } else { 2 };
    assert_eq!(counted, 30 * lanes);
}

#[test]
fn credits_are_neither_made_nor_lost() {
    each_change::<1>("sharing: PerLane");
    each_change::<1>("sharing: PortPool");
}

/// All changes, with masks of `W` words.
fn each_change<const W: usize>(sharing: &str) {
    credits::<W>(sharing, |lane| lane.credits += 1);
    credits::<W>(sharing, |lane| lane.credits = lane.credits.wrapping_sub(1));
    credits::<W>(sharing, |lane| lane.ramp_flits += 1);
    // above the capacity by more than is under way
    credits::<W>(sharing, |lane| lane.credits += 17);
    // below nothing: what comes back hides it from whoever adds the two in 32 bits
    credits::<W>(sharing, |lane| {
        lane.ramp_flits += lane.credits as u16 + 1;
        lane.credits = u32::MAX;
    });
}

#[test]
fn a_packet_takes_the_credits_of_its_flits() {
    let mut halted = busy(1);
    let mut head = PacketRow::NONE;
    halted.change_grouped(|queue: &mut Queue| {
        head = queue.head;
        head != PacketRow::NONE
    });
    halted
        .simulation
        .grouped_mut::<Packet>(|_, packets| packets[head.index()].size += 1);
    halted.breaks(&["credits of lane", "is not the capacity 16"]);
}

#[test]
fn credits_on_their_way_are_counted() {
    let mut halted = busy(1);
    let is_lost = halted.resource(|calendar: &mut Calendar| {
        (400..464).any(|cycle| calendar.at(cycle).ramps.pop().is_some())
    });
    assert!(is_lost, "credits are on their way");
    halted.breaks(&["credits of lane", "is not the capacity 16"]);
}

/// Loses, or doubles, the first item of a kind between two shards.
fn mail(kind: MailKind, is_lost: bool) -> String {
    let mut halted = busy(3);
    let is_there = |mail: &Mail| match kind {
        MailKind::Packets => !mail.packets().is_empty(),
        MailKind::Credits => !mail.credits().is_empty(),
    };
    let mut shards = halted.simulation.mail();
    let shard = shards.position(|mail| mail.iter().any(is_there));
    drop(shards);
    let inbox = halted.simulation.inbox_mut(shard.expect("it is under way"));
    let mail = inbox.iter_mut().find(|mail| is_there(mail));
    let (packets, credits, _) = mail.expect("it is there").open();
    match kind {
        MailKind::Packets => lose_or_double(packets, is_lost),
        MailKind::Credits => lose_or_double(credits, is_lost),
    }
    halted.broken()
}

#[derive(Clone, Copy)]
enum MailKind {
    Packets,
    Credits,
}

fn lose_or_double<T: Clone>(items: &mut Vec<T>, is_lost: bool) {
    if is_lost {
        items.remove(0);
    } else {
        items.push(items[0].clone());
    }
}

#[test]
fn mail_is_neither_lost_nor_doubled() {
    for is_lost in [true, false] {
        let law = mail(MailKind::Packets, is_lost);
        assert!(law.contains("packets were created"), "{law}");
        let law = mail(MailKind::Credits, is_lost);
        assert!(law.contains("credits of lane"), "{law}");
    }
}

#[test]
fn packets_of_a_flow_do_not_overtake() {
    let mut halted = busy(1);
    // others of its line wait at the host since long before
    halted.change_grouped(|record: &mut PacketRecord| {
        let is_under_way = record.created > 0 && record.created < 200;
        if is_under_way {
            record.created = 399;
        }
        is_under_way
    });
    halted.hold();
    halted.run_until(2000);
    halted.breaks(&["packet", "of class 0 from host", "was overtaken"]);
}
