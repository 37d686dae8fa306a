// TokyoCabinetTests
