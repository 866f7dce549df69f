//! The state of a shard as bytes and back: every column and resource that was registered, by name.
//!
//! Cost: O(state).

use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::type_name;

/// How a saved state goes on.
#[derive(Clone, Copy, Debug)]
pub struct Resume<'a> {
    /// With the fabric of another run, and sources, random choices and measurement of its own.
    pub fork: bool,
    /// Cycle in which it goes on.
    pub now: u64,
    /// Which traffic classes are always backlogged.
    pub saturating: &'a [bool],
}

/// State that can be saved; what a field of it becomes where the run goes on.
pub trait Persistent: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// `self` was saved and takes the place of `built`, the state of a shard at cycle 0. By default it goes on as it was.
    fn resume(&mut self, built: Self, how: &Resume<'_>) {
        let _ = (built, how);
    }
}

/// All that is saved of a shard.
#[derive(Debug, Default)]
pub struct Snapshot {
    items: Vec<Item>,
    resumed: Vec<fn(&mut World)>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    name: &'static str,
    looks_on: bool,
    save: fn(&mut World) -> Result<Vec<u8>, postcard::Error>,
    restore: fn(&mut World, &[u8], &Resume<'_>) -> Result<(), String>,
}

/// A column or resource that was saved.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedItem {
    name: String,
    /// Whether only somebody who looks on has it: a run may go on without it, or with it where it was not saved.
    looks_on: bool,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// A component of all entities of a kind.
    pub fn column<C: Component<Mutability = Mutable> + Persistent>(&mut self, looks_on: bool) {
        self.items.push(Item {
            name: name::<C>(),
            looks_on,
            save: save_column::<C>,
            restore: restore_column::<C>,
        });
    }

    /// A resource.
    pub fn resource<R: Resource<Mutability = Mutable> + Persistent>(&mut self, looks_on: bool) {
        self.items.push(Item {
            name: name::<R>(),
            looks_on,
            save: save_resource::<R>,
            restore: restore_resource::<R>,
        });
    }

    /// Called when a saved state has been taken over.
    pub fn on_resume(&mut self, act: fn(&mut World)) {
        self.resumed.push(act);
    }

    /// The whole state.
    ///
    /// # Errors
    /// When it has no form as bytes, which no state has shown.
    pub fn save(&self, world: &mut World) -> Result<Vec<SavedItem>, String> {
        let save = |item: &Item| {
            Ok(SavedItem {
                name: item.name.to_owned(),
                looks_on: item.looks_on,
                bytes: (item.save)(world)?,
            })
        };
        let saved: Result<_, postcard::Error> = self.items.iter().map(save).collect();
        saved.map_err(|cause| cause.to_string())
    }

    /// A resource of a saved state.
    ///
    /// # Errors
    /// When it is not there or not of this form.
    pub fn read<R: Persistent>(saved: &[SavedItem]) -> Result<R, String> {
        let found = saved.iter().find(|known| known.name == name::<R>());
        let found = found.ok_or("it is of other mechanisms")?;
        postcard::from_bytes(&found.bytes).map_err(|cause| cause.to_string())
    }

    /// Takes over a saved state.
    ///
    /// # Errors
    /// What does not fit.
    pub fn restore(
        &self,
        world: &mut World,
        saved: &[SavedItem],
        how: &Resume<'_>,
    ) -> Result<(), String> {
        let known = saved.iter().filter(|item| !item.looks_on);
        let needed = self.items.iter().filter(|item| !item.looks_on);
        if !known
            .map(|item| &*item.name)
            .eq(needed.map(|item| item.name))
        {
            return Err(String::from("it is of other mechanisms"));
        }
        for item in &self.items {
            if let Some(saved) = saved.iter().find(|saved| saved.name == item.name) {
                let restored = (item.restore)(world, &saved.bytes, how);
                restored.map_err(|cause| format!("{}: {cause}", item.name))?;
            }
        }
        for act in &self.resumed {
            act(world);
        }
        Ok(())
    }
}

/// Name of a type, without path and parameters; of a group that of its rows.
pub fn name<T>() -> &'static str {
    let path = type_name::<T>();
    let mut parts = path.split(['<', '>']);
    let short = |part: &'static str| part.rsplit("::").next().unwrap_or(part);
    match parts.next().map_or(path, short) {
        "Group" => parts.next().map_or(path, short),
        name => name,
    }
}

fn save_column<C: Component + Persistent>(world: &mut World) -> Result<Vec<u8>, postcard::Error> {
    let mut rows = world.query::<&C>();
    postcard::to_stdvec(&rows.iter(world).collect::<Vec<_>>())
}

fn restore_column<C: Component<Mutability = Mutable> + Persistent>(
    world: &mut World,
    bytes: &[u8],
    how: &Resume<'_>,
) -> Result<(), String> {
    let saved: Vec<C> = postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
    let mut rows = world.query::<&mut C>();
    if rows.iter(world).count() != saved.len() {
        return Err(String::from("its rows do not fit the fabric"));
    }
    for (mut row, value) in rows.iter_mut(world).zip(saved) {
        let built = std::mem::replace(&mut *row, value);
        row.resume(built, how);
    }
    Ok(())
}

fn save_resource<R: Resource + Persistent>(world: &mut World) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_stdvec(world.resource::<R>())
}

fn restore_resource<R: Resource<Mutability = Mutable> + Persistent>(
    world: &mut World,
    bytes: &[u8],
    how: &Resume<'_>,
) -> Result<(), String> {
    let saved: R = postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
    let mut resource = world.resource_mut::<R>();
    let built = std::mem::replace(&mut *resource, saved);
    resource.resume(built, how);
    Ok(())
}
