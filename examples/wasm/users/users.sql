create table users (
    id     integer primary key,
    name   text not null,
    email  text,
    joined date not null
);
insert into users values
    (1, 'Ada Lovelace', 'ada@example.org', '2026-01-10'),
    (2, 'Alan Turing', null, '2026-02-23'),
    (3, 'Grace Hopper', 'grace@example.org', '2026-03-09'),
    (4, 'Edsger Dijkstra', 'edsger@example.org', '2026-05-11');
