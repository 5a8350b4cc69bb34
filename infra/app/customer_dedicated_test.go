// Package app_test has the tests of the packages below that name none of their internals.
package app_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// dedicated reads the settings of a customer with the given members. The context also has
// another customer.
func dedicated(members map[string]any) (customer.Settings, error) {
	entry := map[string]any{"account": "555566667777", "region": "eu-west-1", "providers": []string{"bedrock"}}
	maps.Copy(entry, members)
	return read(map[string]any{"customer": "hooli", "customers": map[string]any{
		"hooli": entry, "globex": map[string]any{"account": "444455556666", "region": "us-east-1"},
	}})
}

type object = map[string]any

func TestSettingsOfADedicatedCustomer(t *testing.T) {
	s, err := dedicated(object{
		"dedicated": true, "globalProfiles": true, "canaryMinutes": 30,
		"network":          object{"cidr": "10.20.0.0/16", "zones": 3},
		"privateEndpoints": []string{"vpce-0a1b2c3d4e5f67890"},
		"concurrency": object{"reserved": object{"content": 50}, "provisioned": object{"content": 5, "authorizer": 10},
			"schedule": object{"days": "MON-FRI", "from": "07:00", "to": "19:30", "timeZone": "Europe/Dublin"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Dedicated || s.Network.Zones != 3 || s.CanaryMinutes != 30 || s.Reserved(topology.FunctionNamed("content")) != 50 ||
		s.Reserved(topology.FunctionNamed("authorizer")) != topology.FunctionNamed("authorizer").ReservedConcurrency ||
		s.Reserved(topology.FunctionNamed("docs")) != 0 {
		t.Errorf("got %+v", s)
	}
	if got := s.ProviderList(); !slices.Equal(got, []string{"bedrock", "bedrock-global"}) || len(s.Providers) != 1 {
		t.Errorf("the functions are told of %v, and %v are configured", got, s.Providers)
	}
	from, to := s.Concurrency.Schedule.Times()
	if from.Hour() != 7 || to.Hour() != 19 || to.Minute() != 30 {
		t.Errorf("from %v to %v", from, to)
	}
}

func TestRefusedSettingsOfADedicatedCustomer(t *testing.T) {
	network := func(cidr string, zones int) object { return object{"network": object{"cidr": cidr, "zones": zones}} }
	domain := func(members object) object {
		of := object{"name": "api.hooli.example", "certificateArn": "arn:aws:acm:eu-west-1:555566667777:certificate/x"}
		maps.Copy(of, members)
		return object{"domains": object{"eu-west-1": of}}
	}
	scheduled := func(members object) object {
		of := object{"days": "MON-FRI", "from": "07:00", "to": "19:00", "timeZone": "Europe/Dublin"}
		maps.Copy(of, members)
		return object{"concurrency": object{"provisioned": object{"content": 5}, "schedule": of}}
	}
	for name, c := range map[string]struct {
		members object
		says    string
	}{
		"an account that is shared": {object{"dedicated": true, "account": "444455556666"},
			"dedicated: the customer globex has the account 444455556666, too"},
		"a network of the internet": {network("8.8.0.0/16", 2),
			`network.cidr is a private IPv4 range such as 10.20.0.0/16, not "8.8.0.0/16"`},
		"a network by an address": {network("10.20.0.1/16", 2), "network.cidr is a private IPv4 range"},
		"a network of IPv6":       {network("fd00::/16", 2), "network.cidr is a private IPv4 range"},
		"no range":                {network("", 2), "network.cidr is a private IPv4 range"},
		"a small network":         {network("10.20.0.0/24", 2), "network.cidr has a prefix of 16 to 22 bits, not 24"},
		"one zone":                {network("10.20.0.0/16", 1), "network.zones is 2 or 3, not 1"},
		"an unknown member": {object{"network": object{"cdir": "10.0.0.0/16"}},
			`network cannot be read (unknown field "cdir")`},
		"a network as a word": {object{"network": "10.0.0.0/16"}, "network must be an object"},
		"an endpoint by a word": {object{"privateEndpoints": []string{"vpc-1"}},
			`privateEndpoints has "vpc-1", which is not the id of a VPC endpoint`},
		"an endpoint twice": {object{"privateEndpoints": []string{"vpce-0a1b2c3d", "vpce-0a1b2c3d"}},
			"privateEndpoints has vpce-0a1b2c3d twice"},
		"a private API with a name": {with(domain(nil), object{"privateEndpoints": []string{"vpce-0a1b2c3d"}}),
			"privateEndpoints and domains.eu-west-1 exclude each other"},
		"an unknown function": {object{"concurrency": object{"reserved": object{"contents": 5}}},
			"concurrency.reserved.contents: there is no function contents; the functions are account, apikey,"},
		"nothing reserved": {object{"concurrency": object{"reserved": object{"content": 0}}},
			"concurrency.reserved.content is 1 or more, not 0"},
		"less than queues start": {object{"concurrency": object{"reserved": object{"generate": 20}}},
			"concurrency.reserved.generate is 50 or more, not 20"},
		"instances of a worker": {object{"concurrency": object{"provisioned": object{"generate": 5}}},
			"concurrency.provisioned.generate: only the authorizer and the functions of the gateway"},
		"more than is reserved": {object{"concurrency": object{"reserved": object{"content": 5},
			"provisioned": object{"content": 6}}},
			"concurrency.provisioned.content is at most the reserved concurrency, 5, not 6"},
		"a schedule of nothing": {object{"concurrency": object{"schedule": object{"days": "MON"}}},
			"concurrency.schedule is for concurrency.provisioned, which is missing"},
		"days that are none": {scheduled(object{"days": "weekdays"}),
			`concurrency.schedule.days is a day or a range such as MON-FRI, not "weekdays"`},
		"a time that is none": {scheduled(object{"from": "7 am"}),
			`concurrency.schedule.from is a time such as 07:00, not "7 am"`},
		"an end that is none": {scheduled(object{"to": "25:00"}),
			`concurrency.schedule.to is a time such as 19:00, not "25:00"`},
		"hours past midnight": {scheduled(object{"from": "22:00", "to": "06:00"}),
			"concurrency.schedule.to is after from: 06:00 is not after 22:00"},
		"a zone that is none": {scheduled(object{"timeZone": "Dublin"}),
			`concurrency.schedule.timeZone is a name such as Europe/Berlin, not "Dublin"`},
		"the whole world of nothing": {object{"globalProfiles": true, "providers": []string{"fal"}},
			"globalProfiles is for the provider bedrock"},
		"a canary of five minutes": {object{"canaryMinutes": 5}, "canaryMinutes is 0, 10, 15 or 30, not 5"},
		"a domain that is none": {domain(object{"name": "hooli"}),
			`domains.eu-west-1.name is a host name such as api.acme.example, not "hooli"`},
		"a domain elsewhere": {object{"domains": object{"europe": object{"name": "api.hooli.example"}}},
			`domains.europe: "europe" is not an AWS region`},
		"a certificate elsewhere": {domain(
			object{"certificateArn": "arn:aws:acm:us-east-1:555566667777:certificate/x"}),
			"domains.eu-west-1.certificateArn is of the region us-east-1"},
		"a certificate of IAM": {domain(
			object{"certificateArn": "arn:aws:iam::555566667777:server-certificate/x"}),
			"domains.eu-west-1.certificateArn is not the ARN of a certificate"},
		"a zone by its name": {domain(object{"hostedZoneId": "hooli.example"}),
			"domains.eu-west-1.hostedZoneId is the id of a zone of Route 53"},
		"a truststore on the web": {domain(object{"truststore": "https://hooli.example/clients.pem"}),
			"domains.eu-west-1.truststore is the address of an object"},
		"a week is the least": {object{"backup": object{"keepDays": 1}}, "backup.keepDays is 7 to 365, not 1"},
		"a copy to a bucket": {object{"backup": object{"keepDays": 35, "copyTo": "arn:aws:s3:::backups"}},
			"backup.copyTo is not the ARN of a vault"},
		"a copy beside the data": {object{"backup": object{"keepDays": 35,
			"copyTo": "arn:aws:backup:eu-west-1:555566667777:backup-vault:x1"}},
			"a vault of the same account and region"},
		"a replica of nothing": {object{"replica": object{"region": "eu-west-1"}},
			"replica.region is eu-west-1, the customer's own region"},
		"a replica in a continent": {object{"replica": object{"region": "europe"}},
			`replica.region is an AWS region such as eu-central-1, not "europe"`},
		"a replica of two members": {object{"replica": object{"region": "eu-central-1", "zone": "a"}},
			`replica cannot be read (unknown field "zone")`},
		"a replica in China": {object{"replica": object{"region": "cn-north-1"}},
			"replica.region is not in the same partition of AWS as eu-west-1"},
		"a replica with a long name": {object{"replica": object{"region": "ap-southeast-1"},
			"stage": "areallylongnameofastages"},
			"the bucket hooli-areallylongnameofastages-ap-southeast-1-555566667777-media would have more than 63 " +
				"characters"},
		"a version of nothing": {domain(object{"truststoreVersion": "1"}),
			"domains.eu-west-1.truststoreVersion is for a truststore, which is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dedicated(c.members)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want it to say %q", err, c.says)
			}
		})
	}
	for _, member := range []object{network("10.0.0.0/16", 2), {"privateEndpoints": []string{"vpce-0a1b2c3d"}},
		{"concurrency": object{}}, {"dedicated": true}, {"backup": object{"keepDays": 7}},
		{"replica": object{"region": "eu-west-1"}}} {
		entry := with(object{"region": "us-west-2", "stage": "local"}, member)
		if _, err := read(map[string]any{"customer": "local",
			"customers": map[string]any{"local": entry}}); err == nil ||
			!strings.Contains(err.Error(), "not for the stage local") {
			t.Errorf("the local system with %v: %v", member, err)
		}
	}
}

func with(all, others object) object {
	out := maps.Clone(all)
	maps.Copy(out, others)
	return out
}

// A customer with a dedicated account never gets another customer in it.
func TestNobodyJoinsADedicatedAccount(t *testing.T) {
	_, err := read(map[string]any{"customer": "globex", "customers": map[string]any{
		"hooli":  object{"account": "444455556666", "region": "eu-west-1", "dedicated": true},
		"globex": object{"account": "444455556666", "region": "us-east-1"},
	}})
	if err == nil || !strings.Contains(err.Error(), "account 444455556666 is that of the customer hooli alone") {
		t.Errorf("got %v", err)
	}
}

// The region on the command line selects the stacks: those of the customer's region, those of
// the replica's region, or others without a replica.
func TestTheRegionsOfAReplica(t *testing.T) {
	for region, want := range map[string]struct{ replicated, standby bool }{"": {true, false},
		"eu-central-1": {false, true}, "us-east-1": {false, false}} {
		s, err := read(object{"customer": "hooli", "region": region, "found": `{"secretsKey": "arn"}`,
			"customers": object{
				"hooli": object{"account": "555566667777", "region": "eu-west-1",
					"replica": object{"region": "eu-central-1"}},
			}})
		if err != nil || s.Replicated() != want.replicated || s.Standby() != want.standby ||
			s.Found.SecretsKey != "arn" {
			t.Errorf("%q: %v, %v, %+v, %v", region, s.Replicated(), s.Standby(), s.Found, err)
		}
		if s.There().Name() != "hooli-prod-eu-central-1" ||
			s.StandbyBucket() != "hooli-prod-eu-central-1-555566667777-media" {
			t.Errorf("%q: the replica is %s with %s", region, s.There().Name(), s.StandbyBucket())
		}
	}
}
