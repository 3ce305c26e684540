package rollout

import "time"

const (
	maxSteps  = 48 // of a history
	firstStep = 10 * time.Second
)

// A Step is what was counted of both versions within a part of the time since the start of a Trial.
type Step struct{ Active, Canary Counts }

// A history has the counts since the start, in steps of equal length. When there would be more than maxSteps, each two become
// one, so that a history has a bound however long the trial lasts.
type history struct {
	length time.Duration // of a step
	steps  []pair
}

// at returns the step of a time since the start, which is the last one.
func (h *history) at(past time.Duration) *pair {
	if h.length == 0 {
		h.length = firstStep
	}
	for past >= maxSteps*h.length {
		h.halve()
	}
	for int(past/h.length) >= len(h.steps) {
		h.steps = append(h.steps, pair{})
	}
	return &h.steps[len(h.steps)-1]
}

// halve makes one step of each two.
func (h *history) halve() {
	half := (len(h.steps) + 1) / 2
	for i := range half {
		step := h.steps[2*i]
		if 2*i+1 < len(h.steps) {
			step.add(&h.steps[2*i+1])
		}
		h.steps[i] = step
	}
	h.steps, h.length = h.steps[:half], 2*h.length
}

// History returns what was counted since the start, the oldest first, in at most 48 steps of equal length. The last one is not over.
func (t *Trial) History() (length time.Duration, steps []Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.history.at(time.Since(t.start))
	for i := range t.history.steps {
		p := &t.history.steps[i]
		steps = append(steps, Step{p.active.result(), p.canary.result()})
	}
	return t.history.length, steps
}
