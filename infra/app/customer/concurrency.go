package customer

import (
	"fmt"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// The functions of all stacks of an AWS account share its concurrency: the number of functions that may run at a time.
// What the queues of a stack may take, and what its authorizer keeps, are parts of the stack's share, so that a backlog
// of one stack leaves the calls of all of them room.

// usualConcurrency is Lambda's quota of an account by default. The numbers of the functions in package topology are for
// a stack that has all of it.
const usualConcurrency = 1000

// CallsPerSecond is the throttle of the stage, in calls per second of one stack. The
// authorizer needs a tenth of it as reserved concurrency.
const CallsPerSecond = 2000

// requestPart is the part of a stack's share that its queues leave to the functions behind the gateway: 250 of 1,000,
// which is 500 calls a second at half a second each.
const requestPart = 4

// leastCap is the least concurrency that AWS accepts for a queue.
const leastCap = 2

// Share returns the concurrency of the account that the stack may use.
func (s Settings) Share() int {
	quota, stacks := s.AccountConcurrency, s.AccountStacks
	if quota == 0 {
		quota = usualConcurrency
	}
	return quota / max(1, stacks)
}

// part returns the part of a number for the stack's share. A larger share raises nothing: providers and tables have
// limits as well.
func (s Settings) part(n int) int { return n * min(s.Share(), usualConcurrency) / usualConcurrency }

// Cap returns the number of runs at a time that a queue of a function may start, or 0 if nothing bounds it.
func (s Settings) Cap(f topology.Function) int {
	if f.Concurrency == 0 {
		return 0
	}
	return max(leastCap, s.part(f.Concurrency))
}

// Reserved returns the concurrency that is kept free for a function, or 0 if none is.
func (s Settings) Reserved(f topology.Function) int {
	if s.Concurrency != nil && s.Concurrency.Reserved[f.Name] > 0 {
		return s.Concurrency.Reserved[f.Name]
	}
	return s.part(f.ReservedConcurrency)
}

// StageThrottle returns the calls a second that the gateway lets through: ten for each run of the authorizer.
func (s Settings) StageThrottle() int { return s.part(CallsPerSecond) }

// Reservations returns the concurrency that the functions keep free or started.
func (s Settings) Reservations() (sum int) {
	for _, f := range topology.Functions {
		if n := s.Reserved(f); n > 0 {
			sum += n
		} else if s.Concurrency != nil {
			sum += s.Concurrency.Provisioned[f.Name]
		}
	}
	return sum
}

// Background returns the greatest concurrency of the functions behind queues that have none reserved.
func (s Settings) Background() (sum int) {
	for _, f := range topology.Functions {
		if s.Reserved(f) == 0 {
			sum += s.Cap(f) * len(f.Consumes)
		}
	}
	return sum
}

// Requests returns the concurrency that is left to the functions behind the gateway, beside what some of them have
// reserved.
func (s Settings) Requests() int {
	left := s.Share() / requestPart
	for _, f := range topology.Functions {
		if f.Trigger == topology.ByGateway {
			left -= s.Reserved(f)
		}
	}
	return max(0, left)
}

func (s Settings) checkShare() error {
	switch takes := s.Reservations() + s.Background() + s.Requests(); {
	case s.AccountStacks < 0 || s.AccountConcurrency < 0:
		return fmt.Errorf("accountConcurrency and accountStacks are numbers of functions and of stacks, not %d and %d",
			s.AccountConcurrency, s.AccountStacks)
	case takes > s.Share():
		return fmt.Errorf("a stack takes up to %d concurrent functions, and the account has %d for each of %d "+
			"stacks: ask for more in Service Quotas and raise accountConcurrency, or lower accountStacks",
			takes, s.Share(), max(1, s.AccountStacks))
	}
	return nil
}
