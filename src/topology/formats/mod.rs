//! Fabrics in files: edge lists, `GraphML`, the output of `ibnetdiscover`, networks of `ibsim`; read and written.

pub mod edge_list;
mod edge_list_text;
pub mod export;
mod fabric_file;
pub mod graph_ml;
pub mod ibnetdiscover;
pub mod ibsim;
pub mod records;
