package app_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
)

// readFleet reads waves of customers, whose entries have the given members and an account.
func readFleet(fleet any, entries object) ([]customer.Wave, error) {
	customers, n := object{"local": object{"region": "us-west-2", "stage": "local"}}, 0
	for name, entry := range entries {
		n++
		all := object{"account": fmt.Sprintf("%012d", n), "region": "eu-central-1"}
		maps.Copy(all, entry.(object))
		customers[name] = all
	}
	context := object{"customers": customers, "fleet": fleet}
	return customer.ReadFleet(func(key string) any { return context[key] })
}

func waves(names ...string) object {
	var all []any
	for i, name := range names {
		all = append(all, object{"name": name, "soakMinutes": 60 * i})
	}
	return object{"waves": all}
}

func TestAFleetIsWavesOfStacks(t *testing.T) {
	all, err := readFleet(waves("canary", "early", "most"), object{
		"a": object{"wave": "canary"}, "b": object{"wave": "early", "regions": []any{"eu-central-1", "us-east-1"}},
		"c": object{}, "d": object{"wave": "most"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range all {
		for _, c := range w.Cells {
			got = append(got, w.Name+" "+c.Name())
		}
	}
	if want := "canary a-prod-eu-central-1, early b-prod-eu-central-1, early b-prod-us-east-1, most c-prod-eu-central-1, most d-prod-eu-central-1"; strings.Join(got, ", ") != want {
		t.Errorf("got %v", got)
	}
	if all[2].Soak.Hours() != 2 {
		t.Errorf("the last wave is watched for %v", all[2].Soak)
	}
}

func TestMistakesOfAFleet(t *testing.T) {
	one := object{"a": object{"wave": "canary"}, "b": object{}}
	two := waves("canary", "most")
	for says, c := range map[string]struct {
		fleet   any
		entries object
	}{
		"has no waves":                  {nil, one},
		"fleet is not an object":        {"x", one},
		"which is empty or used before": {waves("canary", "canary"), one},
		"soakMinutes is 0 to 1440, not 1500": {object{"waves": []any{object{"name": "most",
			"soakMinutes": 1500}}}, one},
		`a is in the wave "canary": fleet has x`: {waves("x"), one},
		"no customer is in the wave canary":      {two, object{"b": object{}}},
		"most has 1 stacks, and canary before it has 2": {two,
			object{"a": object{"wave": "canary"}, "b": object{"wave": "canary"}, "c": object{}}},
		"deployRole is the ARN of a role": {two,
			object{"a": object{"wave": "canary", "deployRole": "deploy"}, "b": object{}}},
		"deployRole is a role of the account 999999999999": {two,
			object{"a": object{"wave": "canary", "deployRole": "arn:aws:iam::999999999999:role/deploy"},
				"b": object{}}},
		"regions does not have eu-central-1": {two,
			object{"a": object{"wave": "canary", "regions": []any{"us-east-1"}}, "b": object{}}},
		`regions: "Frankfurt" is not an AWS region`: {two,
			object{"a": object{"wave": "canary", "regions": []any{"eu-central-1", "Frankfurt"}}, "b": object{}}},
		"regions has eu-central-1 twice": {two,
			object{"a": object{"wave": "canary", "regions": []any{"eu-central-1", "eu-central-1"}}, "b": object{}}},
		"the region of the replica": {two,
			object{"a": object{"wave": "canary", "regions": []any{"eu-central-1", "eu-west-1"},
				"replica": object{"region": "eu-west-1"}}, "b": object{}}},
		"there is no setting waves": {two,
			object{"a": object{"wave": "canary"}, "b": object{"waves": "canary"}}},
	} {
		if _, err := readFleet(c.fleet, c.entries); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want it to say %q", err, says)
		}
	}
	// One error names all mistakes.
	_, err := readFleet(two, object{"a": object{"wave": "x"}, "b": object{"deployRole": "y"}})
	if err == nil || !strings.Contains(err.Error(), "customer a") || !strings.Contains(err.Error(), "customer b") {
		t.Errorf("%v", err)
	}
}
