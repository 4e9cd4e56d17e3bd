"""The parts that maps are built from, as plain objects on arrays: lattices, prototypes, cooperation, schedules."""
