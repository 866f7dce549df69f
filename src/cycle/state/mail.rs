//! Mail: what crosses from a shard to another, by kind. Everything in it is plain data.

use super::parcel::{Content, Parcel};
use crate::cycle::snapshot::Persistent;
use crate::fabric::rows::{LaneRow, PortRow};
use crate::fabric::{Packet, PacketRecord};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// A packet that may request from cycle `at` on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PacketMail {
    /// Cycle.
    pub at: u64,
    /// Receiving lane there.
    pub lane: LaneRow,
    /// The packet.
    pub packet: Packet,
    /// Its record.
    pub record: PacketRecord,
}

/// Credits that count from cycle `at` on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreditMail {
    /// Cycle.
    pub at: u64,
    /// Sending lane there.
    pub lane: LaneRow,
    /// Credits.
    pub flits: u16,
    /// Cycles between two.
    pub step: u16,
}

/// What only mechanisms send.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Note {
    /// What a packet of the same mail says.
    Content {
        /// Its place among the packets.
        packet: usize,
        /// What it says.
        content: Content,
    },
    /// A control packet out of band that comes by the input of a port there.
    Parcel {
        /// Number of its network.
        network: u16,
        /// The port.
        port: PortRow,
        /// Cycle.
        at: u64,
        /// The packet.
        parcel: Parcel,
    },
    /// Something that a mechanism tells itself in another shard.
    Notice {
        /// Number of the [`Receiver`](crate::cycle::ties::Receiver).
        receiver: u16,
        /// What it is about: a row there.
        row: u32,
        /// Cycle.
        at: u64,
    },
}

/// All that one shard has for another, each kind in the order in which it was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mail {
    packets: Vec<PacketMail>,
    credits: Vec<CreditMail>,
    notes: Vec<Note>,
    /// First cycle in which something of it counts; `u64::MAX` of none.
    earliest: u64,
}

impl Default for Mail {
    fn default() -> Self {
        Self {
            packets: Vec::new(),
            credits: Vec::new(),
            notes: Vec::new(),
            earliest: u64::MAX,
        }
    }
}

impl Mail {
    /// First cycle in which something of it counts; `u64::MAX` = there is nothing.
    #[inline]
    pub fn earliest(&self) -> u64 {
        self.earliest
    }

    /// Whether there is nothing in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.earliest == u64::MAX
    }

    /// Its packets.
    pub fn packets(&self) -> &[PacketMail] {
        &self.packets
    }

    /// Its credits.
    pub fn credits(&self) -> &[CreditMail] {
        &self.credits
    }

    /// What mechanisms say.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// A packet more.
    #[inline]
    pub fn add_packet(&mut self, packet: PacketMail) {
        self.earliest = self.earliest.min(packet.at);
        self.packets.push(packet);
    }

    /// What the last packet says.
    pub fn add_content(&mut self, content: Content) {
        let packet = self.packets.len() - 1;
        self.notes.push(Note::Content { packet, content });
    }

    /// Credits more.
    #[inline]
    pub fn add_credits(&mut self, credits: CreditMail) {
        self.earliest = self.earliest.min(credits.at);
        self.credits.push(credits);
    }

    /// A parcel by the port of a network there.
    pub fn add_parcel(&mut self, network: u16, (at, port): (u64, PortRow), parcel: Parcel) {
        self.earliest = self.earliest.min(at);
        self.notes.push(Note::Parcel {
            network,
            port,
            at,
            parcel,
        });
    }

    /// A notice more.
    #[inline]
    pub fn add_notice(&mut self, receiver: u16, row: u32, at: u64) {
        self.earliest = self.earliest.min(at);
        self.notes.push(Note::Notice { receiver, row, at });
    }

    /// Takes all of another mail, after its own.
    pub fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            return std::mem::swap(self, other);
        }
        let before = self.packets.len();
        for note in &mut other.notes {
            if let Note::Content { packet, .. } = note {
                *packet += before;
            }
        }
        self.packets.append(&mut other.packets);
        self.credits.append(&mut other.credits);
        self.notes.append(&mut other.notes);
        self.earliest = self.earliest.min(other.earliest);
        other.earliest = u64::MAX;
    }

    /// Opens it: packets, credits and notes, to be taken out, all of them.
    #[inline]
    pub fn open(&mut self) -> (&mut Vec<PacketMail>, &mut Vec<CreditMail>, &mut Vec<Note>) {
        self.earliest = u64::MAX;
        (&mut self.packets, &mut self.credits, &mut self.notes)
    }
}

/// Mail of the running window, per receiving shard.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Outbox(pub Vec<Mail>);

impl Outbox {
    /// The mail for a shard.
    #[inline]
    pub fn of(&mut self, shard: u32) -> &mut Mail {
        &mut self.0[shard as usize]
    }
}

/// Far end of a channel that crosses the shard's border.
#[derive(Clone, Copy, Debug)]
pub struct Border {
    /// Shard there.
    pub shard: u32,
    /// Port there.
    pub port: PortRow,
    /// Global id of the switch there.
    pub switch: u32,
    /// Start of the row of the forwarding table that its packets are looked up in there.
    pub table_start: u32,
}

impl Persistent for Outbox {}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(mail: &Mail) -> Vec<String> {
        mail.notes.iter().map(|note| format!("{note:?}")).collect()
    }

    #[test]
    fn appended_mail_stands_behind_and_its_notes_follow_their_packets() {
        let packet = |at| PacketMail {
            at,
            lane: LaneRow(0),
            packet: Packet::UNUSED,
            record: PacketRecord::UNUSED,
        };
        let mut first = Mail::default();
        first.append(&mut Mail::default());
        assert!(first.is_empty());
        let content: Content = postcard::from_bytes(&[0; 64]).expect("zeros are a content");
        let mut mails = [0, 1].map(|_| {
            let mut mail = Mail::default();
            mail.add_packet(packet(9));
            mail.add_packet(packet(7));
            mail.add_content(content);
            mail
        });
        for mail in &mut mails {
            first.append(mail);
            assert!(mail.is_empty() && mail.packets.is_empty() && mail.notes.is_empty());
        }
        first.add_notice(2, 5, 3);
        assert_eq!(first.earliest(), 3);
        let at: Vec<u64> = first.packets.iter().map(|packet| packet.at).collect();
        assert_eq!(at, [9, 7, 9, 7]);
        let own = says(&first);
        assert!(
            own[0].contains("packet: 1,") && own[1].contains("packet: 3,"),
            "{own:?}"
        );
        assert_eq!(own[2], "Notice { receiver: 2, row: 5, at: 3 }");
        let (packets, _, notes) = first.open();
        packets.clear();
        notes.clear();
        assert!(first.is_empty());
    }
}
