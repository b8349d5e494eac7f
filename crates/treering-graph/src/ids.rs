//! Types for the three kinds of index, so that a node can never be taken for a class or a task.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The position as an index into a slice.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The first `count` ids in order.
            pub fn first(count: usize) -> impl Iterator<Item = $name> {
                (0..count as u32).map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A node's position in its graph, from 0. What the node is called outside is in
    /// [`NodeNames`](crate::NodeNames).
    NodeId
}
id! {
    /// A class's position in the graph's list of class names, from 0.
    ClassId
}
id! {
    /// A task's position in its stream, from 0; printed from 1.
    TaskId
}
