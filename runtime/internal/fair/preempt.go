package fair

import "time"

// preemptLocked gives slots of turns that have run for long to shares that are behind. It returns told, with the turns that must be
// told.
func (q *Queue) preemptLocked(now time.Duration, told []*Turn) []*Turn {
	for len(q.ready) > 0 {
		s := q.firstLocked()
		victim, in := q.victimLocked(s, now)
		if victim == nil {
			return told
		}
		next := s.firstLocked()
		if !in.turn.CompareAndSwap(victim, next) {
			continue // its call has just ended
		}
		next.slot.Store(victim.slot.Load())
		told = q.beginLocked(next, now, told)
		victim.telling.Store(true)
		victim.paused.Store(true)
		victim.dropReserveLocked()
		q.enqueueLocked(victim, begun, now)
		told = append(told, victim)
	}
	return told
}

// victimLocked returns the turn that must give its slot to a share; nil if none must. It is one of the share that is furthest ahead.
func (q *Queue) victimLocked(s *Share, now time.Duration) (victim *Turn, in *slot) {
	least := q.cfg.Slice / 4
	for i := range q.slots {
		if t := q.slots[i].turn.Load(); t != nil && t.share == s {
			least = q.cfg.Slice
			break
		}
	}
	for i := range q.slots {
		at := &q.slots[i]
		t := at.turn.Load()
		if t == nil || t.task == nil || t.share == s || at.seen != t || now-at.began < least {
			continue
		}
		t.share.settleLocked()
		ahead := t.share.paid - t.share.cost(q.cfg.Slice/4)
		if ahead > s.tag() && (victim == nil || t.share.paid > victim.share.paid) {
			victim, in = t, at
		}
	}
	return victim, in
}

// tell has the tasks of turns paused, or go on.
func tell(told []*Turn) {
	for _, t := range told {
		t.tell()
	}
}

// tell tells the task whether it must stand still, unless it knows. Another goroutine may have changed that meanwhile, and tells it
// as well.
func (t *Turn) tell() {
	t.tellMu.Lock()
	defer t.tellMu.Unlock()
	pause := t.paused.Load()
	if t.ended || pause == t.told {
		return
	}
	t.told = pause
	if pause {
		t.task.Pause()
	} else {
		t.task.Continue()
	}
}
