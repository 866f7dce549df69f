//! Random lanes of every (switch, input, output, service level, layer), and the lane map that says the same.

use crate::ids::{ChannelId, SlId};
use crate::rng::{Stream, below};
use crate::routing::LaneMap;
use crate::topology::Graph;

/// The lanes spelt out: a row of them for every pair of channels.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    pub(super) levels: u8,
    pub(super) layers: u8,
    /// What the lanes depend on.
    form: Form,
    /// Number of the row, `[input * channels + output]`.
    row: Vec<usize>,
    /// Lanes, `[level * layers + layer]` of each row.
    rows: Vec<Vec<u8>>,
    channels: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Constant,
    ByOutput,
    ByInputAndOutput,
}

impl Lanes {
    pub(super) fn random(rng: &mut Stream, graph: &Graph, size: (u8, u8), lanes: u8) -> Self {
        let (levels, layers) = size;
        let channels = graph.channels().len();
        let form = [Form::Constant, Form::ByOutput, Form::ByInputAndOutput];
        let form = form[below(rng, 3) as usize];
        let count = match form {
            Form::Constant => 1,
            _ => 1 + below(rng, 6) as usize,
        };
        let keys = usize::from(levels) * usize::from(layers);
        let is_alike = below(rng, 2) == 0;
        let mut rows: Vec<Vec<u8>> = Vec::new();
        for number in 0..count {
            let mut row: Vec<u8> = (0..keys).map(|_| below(rng, lanes.into()) as u8).collect();
            if below(rng, 4) == 0 {
                let lane = row[0];
                row.fill(lane);
            }
            if is_alike && number > 0 {
                // another row but for one lane
                row.clone_from(&rows[0]);
                row[below(rng, keys as u32) as usize] = below(rng, lanes.into()) as u8;
            }
            rows.push(row);
        }
        copy_levels(rng, &mut rows, size, lanes);
        let mut drawn = |_| below(rng, count as u32) as usize;
        let row: Vec<usize> = match form {
            Form::Constant => vec![0; channels * channels],
            Form::ByOutput => {
                let outputs: Vec<usize> = (0..channels).map(&mut drawn).collect();
                (0..channels).flat_map(|_| outputs.clone()).collect()
            }
            Form::ByInputAndOutput => (0..channels * channels).map(drawn).collect(),
        };
        Self {
            levels,
            layers,
            form,
            row,
            rows,
            channels,
        }
    }

    pub(super) fn lane(&self, input: ChannelId, output: ChannelId, level: u8, layer: u8) -> u8 {
        let row = self.row[input.index() * self.channels + output.index()];
        self.rows[row][usize::from(level * self.layers + layer)]
    }

    /// The largest lane of any row.
    pub(super) fn largest(&self) -> u8 {
        *self.rows.iter().flatten().max().expect("there is a row")
    }

    /// A service level with [`Self::largest`].
    pub(super) fn level_of_largest(&self) -> SlId {
        let holds = |row: &Vec<u8>| row.iter().position(|&lane| lane == self.largest());
        let place = self.rows.iter().find_map(holds).expect("some row holds it");
        SlId((place / usize::from(self.layers)) as u8)
    }

    /// Most lanes of a service level.
    pub(super) fn most(&self) -> u8 {
        let layers = usize::from(self.layers);
        let used = |level: u8| {
            let start = usize::from(level) * layers;
            let lanes = self.rows.iter().flat_map(|row| &row[start..start + layers]);
            lanes.collect::<std::collections::BTreeSet<_>>().len() as u8
        };
        (0..self.levels).map(used).max().unwrap()
    }

    /// The same as a lane map.
    pub(super) fn map(&self, graph: &Graph) -> LaneMap {
        let mut map = LaneMap {
            layers: self.layers,
            service_levels: self.levels,
            profiles: Vec::new(),
            by_output: vec![0; self.channels],
            by_input: Vec::new(),
        };
        if self.form != Form::ByInputAndOutput {
            map.profiles = self.rows.concat();
            for output in 0..self.channels {
                map.by_output[output] = self.row[output] as u32;
            }
            return map;
        }
        map.by_input.resize(self.channels, 0);
        let (mut count, mut most_input) = (0, 0);
        for switch in graph.switch_ids() {
            let outputs: Vec<_> = graph.connected_ports(switch).collect();
            for &(_, output) in &outputs {
                map.by_output[output.index()] = count;
                for (place, &(_, back)) in (0..).zip(&outputs) {
                    let input = back.reverse();
                    map.by_input[input.index()] = place;
                    most_input = place.max(most_input);
                    let row = self.row[input.index() * self.channels + output.index()];
                    map.profiles.extend_from_slice(&self.rows[row]);
                }
                count += outputs.len() as u32;
            }
        }
        // no sum of an output and an input may point behind the last one
        for _ in 0..most_input {
            map.profiles.extend_from_slice(&self.rows[0]);
        }
        map
    }
}

/// Makes some service levels equal, everywhere or everywhere but in one place.
fn copy_levels(rng: &mut Stream, rows: &mut [Vec<u8>], (levels, layers): (u8, u8), lanes: u8) {
    let layers = usize::from(layers);
    for level in 1..usize::from(levels) {
        if below(rng, 2) == 0 {
            for row in &mut *rows {
                row.copy_within((level - 1) * layers..level * layers, level * layers);
            }
            if below(rng, 2) == 0 {
                let row = below(rng, rows.len() as u32) as usize;
                let layer = below(rng, layers as u32) as usize;
                rows[row][level * layers + layer] = below(rng, lanes.into()) as u8;
            }
        }
    }
}
