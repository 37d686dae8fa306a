// TokyoCabinet
