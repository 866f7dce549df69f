//! Surface map of a mesh, torus or ring: every switch in its place, every channel between its ends.

use super::{LABEL, Shades, busiest};
use crate::chart::canvas::{Area, Canvas, Hover, Spot, fill, heading, write};
use crate::chart::theme::{GRID, INK, MUTED};
use crate::chart::{ChartError, color_map};
use crate::figures::{Figure, FigureError};
use crate::ids::SwitchId;
use crate::results::tables::ChannelUse;
use crate::topology::Graph;
use crate::topology::graph::GridShape;

/// Width of the figure \[pixels\].
const WIDTH: i32 = 640;
/// Most switches along a side.
const LONGEST: u32 = 64;
/// Most slices of a grid of three dimensions.
const MOST_SLICES: u32 = 16;
/// Height of one panel, at most, unless its switches need more \[pixels\].
const TALLEST: i32 = 560;
/// Pixels from one switch to the next: at most, and at least for channels and for numbers to be drawn.
const LARGEST_STEP: i32 = 96;
const CHANNEL_STEP: i32 = 14;
const NUMBER_STEP: i32 = 40;

/// Where the switches are.
pub(super) struct Layout<'a> {
    shape: &'a GridShape,
    columns: u32,
    rows: u32,
    /// Panels, and how many stand beside each other.
    slices: u32,
    beside: u32,
    /// Pixels from one switch to the next.
    step: i32,
}

impl<'a> Layout<'a> {
    /// The layout of a grid of one to three dimensions that is not too large.
    pub(super) fn new(shape: &'a GridShape) -> Option<Self> {
        let radix = |dimension: usize| shape.radix.get(dimension).copied().unwrap_or(1);
        let (columns, rows, slices) = (radix(0), radix(1), radix(2));
        let fits = columns <= LONGEST && rows <= LONGEST && slices <= MOST_SLICES;
        if shape.radix.len() > 3 || !fits {
            return None;
        }
        let beside = match slices {
            1 => 1,
            2..=4 => 2,
            _ => 4,
        };
        // a place beside the grid on either side, for channels that wrap around
        let step = WIDTH / beside as i32 / (columns as i32 + 2);
        let tallest = (TALLEST / (rows as i32 + 2)).max(CHANNEL_STEP);
        Some(Self {
            shape,
            columns,
            rows,
            slices,
            beside,
            step: step.min(tallest).min(LARGEST_STEP),
        })
    }

    fn panel_height(&self) -> i32 {
        (self.rows as i32 + 2) * self.step + self.name_height()
    }

    /// Room for the name of a slice \[pixels\].
    fn name_height(&self) -> i32 {
        if self.slices > 1 { 14 } else { 0 }
    }

    /// Centre of a switch in the figure, below `top`.
    fn center(&self, switch: SwitchId, top: i32) -> (i32, i32) {
        let coordinate = |dimension: usize| {
            if self.shape.radix.len() > dimension {
                self.shape.coordinate(switch, dimension)
            } else {
                0
            }
        };
        let slice = coordinate(2);
        let panel = WIDTH / self.beside as i32;
        let left = (slice % self.beside) as i32 * panel
            + (panel - (self.columns as i32 + 1) * self.step) / 2;
        let upper = top + (slice / self.beside) as i32 * self.panel_height();
        let x = left + (coordinate(0) as i32 + 1) * self.step;
        // the second coordinate grows upwards, as in drawings of surfaces
        let y = upper + self.name_height() + (self.rows - coordinate(1)) as i32 * self.step;
        (x, y)
    }
}

/// Draws switches and channels.
pub(super) fn draw(
    layout: &Layout<'_>,
    graph: &Graph,
    channels: &[ChannelUse],
) -> Result<Figure, FigureError> {
    let has_channels = layout.step >= CHANNEL_STEP;
    let remark = if has_channels {
        "Square: the busiest channel out of a switch, to its hosts too. Bars: channels, on the right side of their direction, as in road traffic."
    } else {
        "Square: the busiest channel out of a switch, to its hosts too. Channels are left out: there are too many."
    };
    let shades = Shades::over(drawn(graph, channels));
    let panels = layout.slices.div_ceil(layout.beside) as i32;
    let height = 70 + panels * layout.panel_height() + 56;
    let svg = Canvas::draw((WIDTH as u32, height as u32), |area| {
        let top = heading(area, "Use of channels on the grid", remark)? + 8;
        let map = Map {
            area,
            layout,
            graph,
            channels,
            shades: &shades,
            top,
        };
        if has_channels {
            map.channels()?;
        }
        map.switches()?;
        map.names(has_channels)?;
        let bottom = top + panels * layout.panel_height();
        let place = (WIDTH / 2 - 150, bottom + 6);
        color_map::key(area, place, shades.0.clone(), LABEL)?;
        Ok(map.told())
    })?;
    let mut caption =
        "Surface map of the grid, first coordinate to the right, second upwards.".to_owned();
    if layout.slices > 1 {
        caption += " One panel per value of the third coordinate.";
    }
    if has_channels {
        caption += " Channels to and from hosts";
        caption += if layout.slices > 1 {
            ", and along the third coordinate,"
        } else {
            ""
        };
        caption += " have no bars.";
        if layout.shape.wrap.contains(&true) {
            caption += " Bars at the rim are channels that wrap around.";
        }
    }
    caption += &shades.caption();
    Ok(Figure {
        name: "channel-utilisation",
        caption,
        svg,
    })
}

/// The shares that are drawn: of channels between switches, and of the busiest one out of each switch.
fn drawn(graph: &Graph, channels: &[ChannelUse]) -> Vec<f64> {
    let between = channels.iter().filter(|channel| !channel.is_of_host());
    let between = between.map(|channel| channel.utilisation);
    let busiest = busiest(graph, channels).into_iter().flatten();
    between.chain(busiest).collect()
}

struct Map<'a, 'b> {
    area: &'a Area<'b>,
    layout: &'a Layout<'a>,
    graph: &'a Graph,
    channels: &'a [ChannelUse],
    shades: &'a Shades,
    top: i32,
}

impl Map<'_, '_> {
    fn switches(&self) -> Result<(), ChartError> {
        let step = self.layout.step;
        let half = if step >= CHANNEL_STEP {
            step * 3 / 10
        } else {
            (step - 1) / 2
        };
        for (switch, busy) in self
            .graph
            .switch_ids()
            .zip(busiest(self.graph, self.channels))
        {
            let (x, y) = self.layout.center(switch, self.top);
            let (from, to) = ((x - half, y - half), (x + half.max(1), y + half.max(1)));
            let share = busy.map(|busy| self.shades.place(busy));
            let color = share.map_or(GRID.color, color_map::color);
            fill(self.area, from, to, color)?;
            if let (Some(busy), Some(share)) = (busy, share)
                && step >= NUMBER_STEP
            {
                let letters = color_map::letters_on(share);
                write(
                    self.area,
                    &format!("{busy:.2}"),
                    (f64::from(step) / 6.0).clamp(9.5, 13.0),
                    letters,
                    Spot::center(x, y),
                )?;
            }
        }
        Ok(())
    }

    /// What the switches tell: the busiest channel out of each.
    fn told(&self) -> Vec<Hover> {
        let side = self.layout.step.max(2);
        let told = self.graph.switch_ids().filter_map(|switch| {
            let ports = self.graph.connected_ports(switch);
            let channels = ports.map(|(_, channel)| &self.channels[channel.index()]);
            let busiest = channels.max_by(|a, b| a.utilisation.total_cmp(&b.utilisation))?;
            let (x, y) = self.layout.center(switch, self.top);
            Some(Hover {
                at: (x - side / 2, y - side / 2),
                size: (side, side),
                text: busiest.told(),
            })
        });
        told.collect()
    }

    /// Both channels of a link lie between its ends, each on the right of its direction.
    fn channels(&self) -> Result<(), ChartError> {
        let step = self.layout.step;
        let thick = (step / 8).max(2);
        for switch in self.graph.switch_ids() {
            let (x, y) = self.layout.center(switch, self.top);
            for (port, channel, _) in self.graph.neighbors(switch) {
                // ports of a grid: +1 and -1 of each dimension in turn; the second coordinate grows upwards
                let (dx, dy) = match port {
                    1 => (1, 0),
                    2 => (-1, 0),
                    3 => (0, -1),
                    4 => (0, 1),
                    _ => continue,
                };
                let (near, far) = (step * 3 / 10 + 1, step * 7 / 10 - 1);
                // to the right of the direction of travel
                let (side_x, side_y) = (-dy, dx);
                let at = |along: i32, side: i32| {
                    (
                        x + dx * along + side_x * side,
                        y + dy * along + side_y * side,
                    )
                };
                let (a, b) = (at(near, 1), at(far, 1 + thick));
                let from = (a.0.min(b.0), a.1.min(b.1));
                let to = (a.0.max(b.0), a.1.max(b.1));
                let share = self
                    .shades
                    .place(self.channels[channel.index()].utilisation);
                fill(self.area, from, to, color_map::color(share))?;
            }
        }
        Ok(())
    }

    /// Coordinates at the rim, and the names of slices.
    fn names(&self, has_channels: bool) -> Result<(), ChartError> {
        let layout = self.layout;
        let every = if has_channels { 1 } else { 8 };
        let stride = layout.columns * layout.rows;
        for slice in 0..layout.slices {
            let first = slice * stride;
            let (x0, y0) = layout.center(SwitchId(first), self.top);
            if layout.slices > 1 {
                let middle = x0 + (layout.columns as i32 - 1) * layout.step / 2;
                let y = y0 - (layout.rows as i32 - 1) * layout.step - layout.step * 3 / 4 - 8;
                write(
                    self.area,
                    &format!("third = {slice}"),
                    10.0,
                    INK.color,
                    Spot::center(middle, y),
                )?;
                continue;
            }
            for column in (0..layout.columns).step_by(every) {
                let spot =
                    Spot::center(x0 + column as i32 * layout.step, y0 + layout.step * 9 / 10);
                write(self.area, &column.to_string(), 10.0, MUTED.color, spot)?;
            }
            for row in (0..layout.rows).step_by(every) {
                let spot = Spot::right(x0 - layout.step * 4 / 5, y0 - row as i32 * layout.step);
                write(self.area, &row.to_string(), 10.0, MUTED.color, spot)?;
            }
        }
        Ok(())
    }
}
