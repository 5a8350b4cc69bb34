package customer

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Replica is a second region with a copy of the data. The service can run there if the
// customer's region is lost.
type Replica struct {
	Region string `json:"region"`
}

// Found has the resources of a replica, and of restored tables, whose names AWS has chosen: those that `make deploy`
// finds.
type Found struct {
	// SecretsKey is the ARN of the primary key of customers' secrets.
	SecretsKey string `json:"secretsKey,omitempty"`
	// StateStream and AuditStream are the ARNs of the streams of the replica or restored tables.
	StateStream string `json:"stateStream,omitempty"`
	AuditStream string `json:"auditStream,omitempty"`
	// Secrets has the ARNs of the replica secrets by the last part of their names.
	Secrets map[string]string `json:"secrets,omitempty"`
}

// SharedSecrets are the last parts of the names of the secrets that the regions share.
var SharedSecrets = []string{"seal", "provider", "platform", "canary"}

// Replicated reports whether the stacks are in the customer's own region, and a replica is
// kept in another region.
func (s Settings) Replicated() bool { return s.Replica != nil && s.Region == s.Home }

// Standby reports whether the stacks are in the replica's region.
func (s Settings) Standby() bool { return s.Replica != nil && s.Region == s.Replica.Region }

// There returns the settings of the replica's region.
func (s Settings) There() Settings {
	s.Region = s.Replica.Region
	return s
}

// MadeTable returns the name of a table that the stacks of a customer with a replica make: the same in both regions.
func (s Settings) MadeTable(name string) string { return s.Short() + "-" + name }

// SharedTable returns the name of a table that both regions use.
func (s Settings) SharedTable(name string) string {
	if r, ok := s.Restored(); ok {
		return r.Named(name)
	}
	return s.MadeTable(name)
}

// SharedSecret returns the name of a secret, which is the same in both regions.
func (s Settings) SharedSecret(name string) string { return s.Customer + "/" + s.Stage + "/" + name }

// KeyAlias returns the alias of the key of the data in each region.
func (s Settings) KeyAlias() string { return "alias/" + s.Short() }

// SecretsKeyAlias returns the alias of the key of customers' secrets in each region.
func (s Settings) SecretsKeyAlias() string { return s.KeyAlias() + "-secrets" }

// MediaKeyAlias returns the alias of the key that signs media.
func (s Settings) MediaKeyAlias() string { return s.KeyAlias() + "-media" }

// StandbyBucket returns the name of the media bucket in the replica's region. It includes the
// account, because names of buckets are unique across all AWS accounts.
func (s Settings) StandbyBucket() string { return s.There().Name() + "-" + s.Account + "-media" }

// Ready returns an error if the service cannot run in the replica's region, because its
// resources have not been looked up.
func (s Settings) Ready() error {
	if _, ok := s.Restored(); ok && (s.Found.StateStream == "" || s.Found.AuditStream == "") {
		return fmt.Errorf("%s uses restored tables, and the context value found lacks their streams: deploy with "+
			"`make deploy`, which looks them up", s.Name())
	}
	if s.Standby() && (s.Found.SecretsKey == "" || s.Found.StateStream == "" || s.Found.AuditStream == "" ||
		len(s.Found.Secrets) < len(SharedSecrets)) {
		return fmt.Errorf("%s is the region of the replica of %s, and the context value found lacks a part of it: "+
			"deploy with `make deploy`, which looks it up", s.Region, s.Customer)
	}
	return nil
}

// Waiting reports whether the stacks are in the replica's region and the service does not
// run there. Such stacks have only the data, and resources that must not change, such as
// addresses.
func (s Settings) Waiting() bool { return s.Standby() && s.Ready() != nil }

// Restored names two tables that DynamoDB or AWS Backup has restored to the same second.
type Restored struct {
	State string `json:"state"`
	Audit string `json:"audit"`
}

// Named returns the name of the table "state" or "audit".
func (r Restored) Named(name string) string {
	if name == "audit" {
		return r.Audit
	}
	return r.State
}

// Restored returns the restored tables that the stacks use, if any. A replica has the tables of its home region.
func (s Settings) Restored() (Restored, bool) {
	if s.Standby() {
		s.Region = s.Home
	}
	r, ok := s.RestoredTables[s.Name()]
	return r, ok
}

func (s Settings) checkRestored() error {
	for name, r := range s.RestoredTables {
		switch {
		case s.Local():
			return errors.New("restoredTables is not for the stage local, in which nothing is kept")
		case !strings.HasPrefix(name, s.Customer+"-"):
			return fmt.Errorf("restoredTables names stacks of %s, such as %s, not %q", s.Customer, s.Name(), name)
		case !tableShape.MatchString(r.State) || !tableShape.MatchString(r.Audit) || r.State == r.Audit:
			return fmt.Errorf("restoredTables.%s has the names of two restored tables, state and audit, not %q and %q",
				name, r.State, r.Audit)
		}
	}
	return nil
}

// tableShape is that of a DynamoDB table's name.
var tableShape = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`)

func (s Settings) checkReplica() error {
	r := s.Replica
	switch {
	case r == nil:
		return nil
	case s.Local():
		return errors.New("replica is not for the stage local, in which nothing is kept")
	case !regionShape.MatchString(r.Region):
		return fmt.Errorf("replica.region is an AWS region such as eu-central-1, not %q", r.Region)
	case s.Home == "":
		return errors.New("replica needs the member region: the region that it is a copy of")
	case r.Region == s.Home:
		return fmt.Errorf("replica.region is %s, the customer's own region: what is lost with the data is lost with "+
			"its copy", r.Region)
	case partition(r.Region) != partition(s.Home):
		return fmt.Errorf("replica.region is not in the same partition of AWS as %s: %s", s.Home, r.Region)
	}
	return nil
}

// partition returns the AWS partition of a region, such as cn or us-gov. Partitions share
// nothing.
func partition(region string) string {
	for _, apart := range []string{"cn-", "us-gov-"} {
		if strings.HasPrefix(region, apart) {
			return apart
		}
	}
	return ""
}
