package webhook

import "time"

// attemptTimeout bounds an attempt, from looking the name up to the last byte of
// the answer.
const attemptTimeout = 15 * time.Second
