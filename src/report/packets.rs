//! `packets.csv`: written while the run goes on, moved into the run directory at its end.
//!
//! The column `flow` is the id of the packet's flow, of an answer that of the flow it belongs to, and empty where a class has
//! no flows; it is there in every scenario, so that the files of all runs have one schema.
//!
//! The file is beside the checkpoint as long as the run may be continued from there: a checkpoint knows its length
//! and checksum then, and a run that goes on cuts off what came later. When the rows cannot be written any more the run
//! ends, or goes on without them ([`PacketFile::or_without`]) and its result says at the end that they are missing.
//! Cost: one formatted line per recorded packet, about 75 bytes.

use super::columns::Kind::{Boolean, Integer, Text};
use super::columns::{Cell, Column, CsvRows, Kind, Rows, columns};
use super::{ReportError, RunDirectory};
use crate::measure::{Delivery, PacketRow, Sample, packet_id};
use crate::plan::Plan;
use crate::run::{PacketSink, Written};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::PathBuf;

/// Name in the run directory.
pub const FILE: &str = "packets.csv";
/// Name of a file that lacks rows.
const CUT: &str = "packets.cut.csv";

const PACKETS: [(&str, Kind); 14] = [
    ("packet", Text),
    ("class", Text),
    ("sl", Integer),
    ("source", Integer),
    ("destination", Integer),
    ("size [flits]", Integer),
    ("created [cycle]", Integer),
    ("injected [cycle]", Integer),
    ("delivered [cycle]", Integer),
    ("hops [channels]", Integer),
    ("network_latency [cycles]", Integer),
    ("packet_latency [cycles]", Integer),
    ("marked", Boolean),
    ("flow", Integer),
];

/// The columns.
pub fn packet_columns() -> Vec<Column> {
    columns(&PACKETS)
}

/// The file while it grows.
#[derive(Debug)]
pub struct PacketFile {
    path: PathBuf,
    /// Names of the classes.
    classes: Vec<String>,
    /// Open from the first row on.
    file: Option<File>,
    written: u64,
    checksum: crc32fast::Hasher,
    /// Whether the run goes on when rows cannot be written.
    is_optional: bool,
    /// Why rows are missing.
    cut: Option<io::Error>,
    /// Whether a saved state needs its rows.
    is_secured: bool,
}

impl PacketFile {
    /// A file at `path`, when the plan asks for it; nothing is touched yet.
    pub fn asked_for(plan: &Plan, path: PathBuf) -> Option<Self> {
        (plan.observe.packets != Sample::None).then(|| Self {
            path,
            classes: plan
                .classes
                .iter()
                .map(|class| class.name.clone())
                .collect(),
            file: None,
            written: 0,
            checksum: crc32fast::Hasher::new(),
            is_optional: false,
            cut: None,
            is_secured: false,
        })
    }

    /// The run goes on without further rows when they cannot be written.
    #[must_use]
    pub fn or_without(self) -> Self {
        Self {
            is_optional: true,
            ..self
        }
    }

    /// Removes the rows of a file that is cut, for other files; those that a saved state needs stay. Says whether it did.
    pub(super) fn makes_room(&mut self) -> bool {
        let is_gone = self.cut.is_some() && !self.is_secured;
        if is_gone {
            self.file = None;
            // where that fails, so will the other files, and say why
            let _ = fs::remove_file(&self.path);
        }
        is_gone
    }

    /// Starts the file with its header, unless it is open.
    fn open(&mut self) -> io::Result<()> {
        if self.file.is_some() {
            return Ok(());
        }
        self.file = Some(File::create(&self.path).map_err(|cause| self.name(&cause))?);
        let mut rows = CsvRows::new(Vec::new());
        rows.header(&packet_columns()).map_err(io::Error::other)?;
        self.append(&rows.into_output().map_err(io::Error::other)?)
    }

    /// Writes rows.
    fn add(&mut self, packets: &[PacketRow]) -> io::Result<()> {
        self.open()?;
        let mut rows = CsvRows::new(Vec::with_capacity(packets.len() * 80));
        for packet in packets {
            let class = &self.classes[usize::from(packet.delivery.class)];
            rows.row(&cells(packet, class)).map_err(io::Error::other)?;
        }
        self.append(&rows.into_output().map_err(io::Error::other)?)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            let written = file.write_all(bytes);
            written.map_err(|cause| self.name(&cause))?;
        }
        self.checksum.update(bytes);
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// The error with the name of the file.
    fn name(&self, cause: &io::Error) -> io::Error {
        io::Error::new(cause.kind(), format!("{}: {cause}", self.path.display()))
    }

    /// Puts the table into the run directory: moves it there, or leaves it where it is and copies it for a run that
    /// may go on. Beside results that are lost in part rows that a saved state needs stay where they are.
    ///
    /// # Errors
    /// [`ReportError::Io`]; also when rows are missing.
    pub fn finish(
        mut self,
        directory: &RunDirectory,
        may_go_on: bool,
        is_rest_written: bool,
    ) -> Result<(), ReportError> {
        let done = match self.cut.take() {
            _ if self.is_secured && !is_rest_written => return Ok(()),
            Some(cause) => {
                self.file = None;
                if !self.is_secured {
                    // a courtesy: what failed before is what is told
                    let _ = fs::rename(&self.path, directory.path().join(CUT));
                }
                Err(cause)
            }
            None => self.open().and_then(|()| self.place(directory, may_go_on)),
        };
        done.map_err(|error| ReportError::Io {
            path: directory.path().join(FILE),
            error,
        })
    }

    fn place(&mut self, directory: &RunDirectory, may_go_on: bool) -> io::Result<()> {
        self.file = None;
        let to = directory.path().join(FILE);
        if to == self.path || (!may_go_on && fs::rename(&self.path, &to).is_ok()) {
            return Ok(());
        }
        // a rename fails between file systems
        if let Err(cause) = fs::copy(&self.path, &to) {
            let _ = fs::remove_file(&to);
            return Err(cause);
        }
        if may_go_on {
            return Ok(());
        }
        fs::remove_file(&self.path)
    }

    /// Removes the file of a run that has failed.
    pub fn discard(self) {
        // often there is none
        let _ = fs::remove_file(&self.path);
    }
}

impl PacketSink for PacketFile {
    fn take(&mut self, packets: &[PacketRow]) -> io::Result<()> {
        if self.cut.is_some() {
            return Ok(());
        }
        match self.add(packets) {
            Err(cause) if self.is_optional => {
                tracing::warn!(
                    "the run goes on without records of packets, and saves no more states: {cause}"
                );
                if let Some(file) = &self.file {
                    // to the last whole row; where that fails a half one stays in a file that is called cut
                    let _ = file.set_len(self.written);
                }
                self.cut = Some(cause);
                Ok(())
            }
            added => added,
        }
    }

    fn secure(&mut self) -> io::Result<Written> {
        if let Some(cause) = &self.cut {
            // a state without its records is none to go on from
            return Err(io::Error::new(cause.kind(), cause.to_string()));
        }
        self.open()?;
        if let Some(file) = &mut self.file {
            file.sync_data()?;
        }
        Ok(Written {
            bytes: self.written,
            checksum: self.checksum.clone().finalize(),
        })
    }

    fn is_needed(&mut self) {
        self.is_secured = true;
    }

    fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    fn go_on(&mut self, written: Written) -> io::Result<()> {
        let open = OpenOptions::new().read(true).write(true).open(&self.path);
        let mut file = open.map_err(|cause| self.name(&cause))?;
        let mut checksum = crc32fast::Hasher::new();
        let mut left = written.bytes;
        let mut buffer = vec![0; 1 << 16];
        while left > 0 {
            let most = buffer
                .len()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            let read = file.read(&mut buffer[..most])?;
            if read == 0 {
                let message = format!("{left} of {} bytes are missing", written.bytes);
                return Err(self.name(&io::Error::new(ErrorKind::UnexpectedEof, message)));
            }
            checksum.update(&buffer[..read]);
            left -= read as u64;
        }
        if checksum.clone().finalize() != written.checksum {
            let message = "it is that of another run, or was changed";
            return Err(self.name(&io::Error::new(ErrorKind::InvalidData, message)));
        }
        file.set_len(written.bytes)?;
        file.seek(io::SeekFrom::End(0))?;
        self.file = Some(file);
        self.is_secured = true;
        self.written = written.bytes;
        self.checksum = checksum;
        Ok(())
    }
}

/// The row of a packet.
fn cells<'a>(packet: &PacketRow, class: &'a str) -> [Cell<'a>; 14] {
    let Delivery {
        source,
        destination,
        sequence,
        size,
        created,
        injected,
        delivered,
        hops,
        is_marked,
        flow,
        ..
    } = packet.delivery;
    [
        packet_id(source.0, class, sequence).into(),
        class.into(),
        packet.sl.into(),
        source.0.into(),
        destination.0.into(),
        size.into(),
        created.into(),
        injected.into(),
        delivered.into(),
        hops.into(),
        (delivered - injected).into(),
        (delivered - created).into(),
        is_marked.into(),
        flow.into(),
    ]
}
