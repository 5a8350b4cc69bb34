package customer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// Membership places a customer in the fleet that `make deploy-all` deploys.
type Membership struct {
	// Wave is the name of the customer's wave, or empty for the last wave.
	Wave string `json:"wave"`
	// Regions are the regions with stacks of the customer. Empty means Region alone.
	Regions []string `json:"regions"`
	// DeployRole is the ARN of the role that deploys, in the customer's account. If it is
	// empty, the credentials of the command belong to that account.
	DeployRole string `json:"deployRole"`
	// Version is the version to deploy. It is not a setting; the stack of the API outputs it.
	Version string `json:"-"`
}

// VersionOutput names the output of the API's stack with the version that it runs.
const VersionOutput = "Version"

// GatesParameter is the parameter of a stack that says whether it has the gates of a
// release, on or off. They cost money by the hour: `make deploy` switches them on for a release, and off after it.
const GatesParameter = "Gates"

// Wave is a set of stacks that are deployed one after another. They are watched for a while
// before the next wave.
type Wave struct {
	Name string
	Soak time.Duration
	// Cells are the settings of each stack, by customer and region.
	Cells []Settings
}

// longestSoak is the longest time to watch a wave, in minutes: a day.
const longestSoak = 24 * 60

var roleARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::(\d{12}):role/\S+$`)

func (s Settings) checkMembership() error {
	role := roleARN.FindStringSubmatch(s.DeployRole)
	switch {
	case s.Local() && (s.Wave != "" || s.DeployRole != "" || len(s.Regions) > 0):
		return errors.New("wave, regions and deployRole are not for the stage local, which no wave deploys")
	case s.DeployRole != "" && role == nil:
		return fmt.Errorf("deployRole is the ARN of a role such as arn:aws:iam::111122223333:role/deploy, not %q",
			s.DeployRole)
	case role != nil && role[1] != s.Account:
		return fmt.Errorf("deployRole is a role of the account %s, and the customer has the account %s",
			role[1], s.Account)
	case len(s.Regions) > 0 && !slices.Contains(s.Regions, s.Home):
		return fmt.Errorf("regions does not have %s, the region of the customer", s.Home)
	}
	for i, region := range s.Regions {
		switch {
		case !regionShape.MatchString(region):
			return fmt.Errorf("regions: %q is not an AWS region", region)
		case slices.Contains(s.Regions[:i], region):
			return fmt.Errorf("regions has %s twice", region)
		case s.Replica != nil && region == s.Replica.Region:
			return fmt.Errorf("regions has %s, the region of the replica, which is deployed with %s", region, s.Home)
		}
	}
	return nil
}

// ReadFleet reads the waves from the context: the map `customers`, and the list of waves in
// `fleet`. It checks all settings of all customers, and returns all errors.
func ReadFleet(context func(key string) any) ([]Wave, error) {
	customers, err := decode[map[string]json.RawMessage](context("customers"))
	if err != nil {
		return nil, fmt.Errorf("the context value customers is not a map of customers: %w", err)
	}
	list, err := decode[struct {
		Waves []struct {
			Name        string
			SoakMinutes int
		}
	}](context("fleet"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the context value fleet is not an object with waves: %w", err)
	case len(list.Waves) == 0:
		return nil, errors.New("the context value fleet has no waves: cdk.json lists them in their order, the " +
			"smallest first")
	}
	waves, at := make([]Wave, len(list.Waves)), map[string]int{}
	var known []string
	for i, w := range list.Waves {
		_, twice := at[w.Name]
		switch {
		case w.Name == "" || twice:
			return nil, fmt.Errorf("fleet.waves/%d has the name %q, which is empty or used before", i, w.Name)
		case w.SoakMinutes < 0 || w.SoakMinutes > longestSoak:
			return nil, fmt.Errorf("fleet.waves/%d: soakMinutes is 0 to %d, not %d", i, longestSoak, w.SoakMinutes)
		}
		waves[i], at[w.Name] = Wave{Name: w.Name, Soak: time.Duration(w.SoakMinutes) * time.Minute}, i
		known = append(known, w.Name)
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(customers)) {
		if name == customerLocal {
			continue
		}
		cells, err := cellsOf(name, context)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		wave := len(waves) - 1
		if named := cells[0].Wave; named != "" {
			i, ok := at[named]
			if !ok {
				wrong = append(wrong, fmt.Errorf("the customer %s is in the wave %q: fleet has %s", name, named,
					strings.Join(known, ", ")))
				continue
			}
			wave = i
		}
		waves[wave].Cells = append(waves[wave].Cells, cells...)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	for i, w := range waves {
		if len(w.Cells) == 0 {
			return nil, fmt.Errorf("no customer is in the wave %s", w.Name)
		}
		if i > 0 && len(w.Cells) < len(waves[i-1].Cells) {
			return nil, fmt.Errorf("the wave %s has %d stacks, and %s before it has %d: waves grow, so that a fault "+
				"is met by few", w.Name, len(w.Cells), waves[i-1].Name, len(waves[i-1].Cells))
		}
	}
	return waves, nil
}

// cellsOf returns the settings of a customer in each of its regions.
func cellsOf(name string, context func(string) any) (all []Settings, err error) {
	in := func(region string) (Settings, error) {
		return Read(func(key string) any {
			switch {
			case key == "customer":
				return name
			case key == "region" && region == "":
				return nil
			case key == "region":
				return region
			}
			return context(key)
		})
	}
	home, err := in("")
	if err != nil || len(home.Regions) == 0 {
		return []Settings{home}, err
	}
	for _, region := range home.Regions {
		s, err := in(region)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// StoppingAlarms are the ends of the names of the alarms of background work that stop a wave: probes that fail or are
// silent, and work that is lost, late or put aside. A single error or throttle of a function is repeated, and a
// provider that fails does so at all releases. The composite alarms of the budget of errors stop a wave, too.
var StoppingAlarms = []string{"ProbesAlarm", "ProbesSilentAlarm", "DeadLettersAlarm", "WaitingAlarm", "AgeAlarm",
	"LoopsAlarm", "PutAsideAlarm"}

// A release of a background function is ended if its version fails at least LeastFailures times in five minutes, at
// more than FailedPart of its calls, and twice as often as the versions before. A customer's bad input or an outage of
// a provider fails at all versions alike.
const (
	LeastFailures = 3
	FailedPart    = 0.5
)

// The functions of all stacks of an AWS account share its concurrency: the number of functions that may run at a time.
// The workers and the authorizer of a stack use parts of the stack's share. So a backlog of one stack leaves room for
// the calls of the others.

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

// Requests returns the concurrency that the functions behind the gateway share. It leaves out what some of them
// reserve.
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
