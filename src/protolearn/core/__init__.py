"""Building blocks of maps as plain objects on arrays: lattices, prototypes, neighborhoods, schedules."""
