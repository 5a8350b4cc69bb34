package webhook

import "time"

// AttemptTimeout bounds an attempt, from looking the name up to the last byte of the answer.
const AttemptTimeout = 15 * time.Second

// Schedule lists the waits after failed attempts. After the attempt that follows the
// last wait, the delivery has failed.
var Schedule = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour,
}

// Jitter is the part of a wait by which it may differ from the schedule, so that deliveries
// that failed together are not repeated together.
const Jitter = 0.1

// Wait returns how long after the failure with the given number (0 for the first) the
// next attempt follows. chance is a random number from 0 to 1. A receiver that asks
// for more time gets it: it is never called before the time that it names.
func Wait(failures int, asked time.Duration, chance float64) time.Duration {
	if failures >= len(Schedule) {
		return 0
	}
	return max(Spread(Schedule[failures], Jitter, chance), time.Duration(float64(asked)*(1+Jitter*chance)))
}

// Spread makes a wait longer or shorter by up to a part of it. chance is a random number from 0 to 1.
func Spread(wait time.Duration, part, chance float64) time.Duration {
	return time.Duration(float64(wait) * (1 - part + 2*part*chance))
}
