"""How the Table API becomes columns, frames and settings of Spark."""
