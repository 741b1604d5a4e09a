"""Operations on unbounded tables, by operators with keyed state."""
