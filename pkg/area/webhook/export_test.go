package webhook

// The identifiers that the tests of the whole path need.
const (
	LeaseTime = leaseTime
	KeptBody  = keptBody
)

// Round is the result of a round of held deliveries.
type Round struct{ Sent, Slow, Failed int }

// NextRate returns the rate after a round.
func NextRate(rate int, did Round) int {
	p := Return{Rate: rate}
	p.next(round{sent: did.Sent, slow: did.Slow, failed: did.Failed})
	return p.Rate
}
