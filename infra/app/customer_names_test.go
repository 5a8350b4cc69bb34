package app_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// For all customers, stages and regions, either AWS accepts the derived names, or the settings
// are refused with the name and the limit.
func TestDerivedNamesAreWithinTheLimitsOfAWS(t *testing.T) {
	regions := []string{"eu-west-1", "us-east-1", "ap-southeast-1", "ap-northeast-3", "me-central-1", "il-central-1",
		"mx-central-1"}
	source := rand.New(rand.NewPCG(1, 2))
	accepted, refused := 0, 0
	for range 3000 {
		name, stage := strings.Repeat("c", 1+source.IntN(31)), strings.Repeat("s", 1+source.IntN(31))
		entry := map[string]any{"account": "111122223333", "region": regions[source.IntN(len(regions))], "stage": stage}
		if source.IntN(2) == 0 {
			entry["backup"] = map[string]any{"keepDays": 30}
		}
		if there := regions[source.IntN(len(regions))]; source.IntN(2) == 0 && there != entry["region"] {
			entry["replica"] = map[string]any{"region": there}
		}
		s, err := read(map[string]any{"customer": name, "customers": map[string]any{name: entry}})
		longest := longestNames(s)
		if err == nil {
			accepted++
			for says, over := range longest {
				if over > 0 {
					t.Fatalf("%v of %s was accepted: %s", entry, name, says)
				}
			}
			continue
		}
		refused++
		named := false
		for says, over := range longest {
			named = named || over > 0 && strings.Contains(err.Error(), says) &&
				strings.HasSuffix(err.Error(), fmt.Sprintf("shorten them by %d", over))
		}
		if !named {
			t.Fatalf("%v of %s is refused by %q; the names over their limits are %v", entry, name, err, longest)
		}
	}
	if accepted < 100 || refused < 100 {
		t.Errorf("%d were accepted, and %d refused", accepted, refused)
	}
}

// longestNames returns the number of characters by which names exceed their limits, by their
// descriptions in errors. The limits are those of the AWS documentation.
func longestNames(s customer.Settings) map[string]int {
	found := map[string]int{}
	in := []customer.Settings{s}
	if s.Replica != nil {
		in = append(in, s.There())
	}
	for _, s := range in {
		add := func(name string, most int) {
			found[fmt.Sprintf("%s would have more than %d characters", name, most)] = len(name) - most
		}
		short := s.Customer + "-" + s.Stage
		add(short+"-r", 32)
		for _, f := range topology.Functions {
			add(short+"-"+f.Name, 64)
		}
		add(short+"-"+s.Region+"-deliver", 64)
		if !s.Standby() {
			add("content-automation-"+short+"-"+s.Region, 63)
		}
		if s.Backup != nil {
			add(short+"-"+s.Region, 50)
		}
		if s.Replica != nil {
			add(short+"-"+s.Replica.Region+"-"+s.Account+"-media", 63)
		}
	}
	return found
}
