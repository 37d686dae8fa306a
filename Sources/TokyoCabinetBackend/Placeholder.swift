// TokyoCabinetBackend
