package customer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// Isolation has the settings of a customer with infrastructure of its own. Without them,
// the functions are in no VPC and the API is public.
type Isolation struct {
	// Dedicated refuses an AWS account that another customer uses.
	Dedicated bool `json:"dedicated"`
	// Network puts the functions into a VPC. Their addresses on the internet then stay the
	// same.
	Network *Network `json:"network"`
	// PrivateEndpoints are the VPC endpoints that may call the API. With them, the
	// internet cannot reach it.
	PrivateEndpoints []string `json:"privateEndpoints"`
	// Concurrency reserves and prepares instances of functions.
	Concurrency *Concurrency `json:"concurrency"`
	// Backup makes a backup of the data every day, in addition to the recovery to any second
	// of the last 35 days.
	Backup *Backup `json:"backup"`
	// Replica keeps a copy of the data in a second region, as it changes.
	Replica *Replica `json:"replica"`
	// Found has the resources of the replica that `make deploy` has looked up. It is not a
	// setting.
	Found Found `json:"-"`
	// Offered are the names of the providers of people that the pool has, as `make deploy` has looked them up: an update
	// of the pool's client leaves those that its template names. It is not a setting.
	Offered []string `json:"-"`
	// GlobalProfiles lets Bedrock process calls anywhere in the world if a model has no
	// inference profile for the geography of the region.
	GlobalProfiles bool `json:"globalProfiles"`
}

// Backup says how long backups are kept, and to which vault they are copied.
type Backup struct {
	KeepDays int `json:"keepDays"`
	// Lock keeps everyone, AWS included, from deleting a backup before its time.
	Lock bool `json:"lock"`
	// CopyTo is the ARN of a vault in another account or region, or empty for no copies.
	CopyTo string `json:"copyTo"`
}

// Network is a VPC with a private and a public subnet in each availability zone.
type Network struct {
	// CIDR is its range of private addresses.
	CIDR string `json:"cidr"`
	// Zones is the number of availability zones. Each has a NAT gateway with an address.
	Zones int `json:"zones"`
}

// Concurrency has the numbers of instances by function.
type Concurrency struct {
	// Reserved instances are kept free for the function. It never runs more of them.
	Reserved map[string]int `json:"reserved"`
	// Provisioned instances are started before calls need them.
	Provisioned map[string]int `json:"provisioned"`
	// Schedule has the hours in which the provisioned instances run. Without it, they
	// always run.
	Schedule *Hours `json:"schedule"`
}

// Hours are hours of the week.
type Hours struct {
	// Days is a day, or a range of days such as MON-FRI.
	Days string `json:"days"`
	// From and To are times of the day, such as 07:00.
	From string `json:"from"`
	To   string `json:"to"`
	// TimeZone is a name of the IANA database.
	TimeZone string `json:"timeZone"`
}

const timeOfDay = "15:04"

// Times returns From and To as times.
func (h Hours) Times() (from, to time.Time) {
	from, _ = time.Parse(timeOfDay, h.From) // Read has checked both.
	to, _ = time.Parse(timeOfDay, h.To)
	return from, to
}

// ProviderList returns the value of the variable PROVIDERS: the providers, with the global
// inference profiles if the customer accepts them.
func (s Settings) ProviderList() []string {
	if s.GlobalProfiles {
		return append(slices.Clone(s.Providers), provider.BedrockEverywhere)
	}
	return s.Providers
}

// Probed reports whether the canary can reach the API. It reaches a private API only from a
// network of the customer.
func (s Settings) Probed() bool { return len(s.PrivateEndpoints) == 0 || s.Network != nil }

var (
	endpointShape = regexp.MustCompile(`^vpce-[0-9a-f]{8,17}$`)
	daysShape     = regexp.MustCompile(`^(MON|TUE|WED|THU|FRI|SAT|SUN)(-(MON|TUE|WED|THU|FRI|SAT|SUN))?$`)
	zoneIDShape   = regexp.MustCompile(`^Z[0-9A-Z]{5,31}$`)
	truststore    = regexp.MustCompile(`^s3://[a-z0-9][a-z0-9.-]{2,62}/\S+\.pem$`)
	certificate   = regexp.MustCompile(`^arn:aws[a-z-]*:acm:([a-z0-9-]+):\d{12}:certificate/\S+$`)
	vaultShape    = regexp.MustCompile(`^arn:aws[a-z-]*:backup:([a-z0-9-]+):(\d{12}):backup-vault:[a-zA-Z0-9_-]{2,50}$`)
	hostShape     = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$`)
)

// checkDedicated checks the settings of Isolation and the domains, and returns the first error.
func (s Settings) checkDedicated() error {
	for _, check := range []func(Settings) error{
		Settings.checkNetwork, Settings.checkEndpoints, Settings.checkConcurrency, Settings.checkProfiles,
		Settings.checkDomains, Settings.checkBackup, Settings.checkReplica, Settings.checkRestored,
		Settings.checkShare, Settings.checkMembership,
	} {
		if err := check(s); err != nil {
			return err
		}
	}
	return nil
}

func (s Settings) checkNetwork() error {
	n := s.Network
	if n == nil {
		return nil
	}
	cidr, err := netip.ParsePrefix(n.CIDR)
	switch {
	case s.Local():
		return errors.New("network is not for the stage local: its functions are processes of this machine")
	case err != nil || !cidr.Addr().Is4() || !cidr.Addr().IsPrivate() || cidr != cidr.Masked():
		return fmt.Errorf("network.cidr is a private IPv4 range such as 10.20.0.0/16, not %q", n.CIDR)
	case cidr.Bits() < 16 || cidr.Bits() > 22:
		return fmt.Errorf("network.cidr has a prefix of 16 to 22 bits, not %d: smaller ranges have too few addresses "+
			"for the functions", cidr.Bits())
	case n.Zones < 2 || n.Zones > 3:
		return fmt.Errorf("network.zones is 2 or 3, not %d", n.Zones)
	}
	return nil
}

func (s Settings) checkEndpoints() error {
	for i, id := range s.PrivateEndpoints {
		switch {
		case s.Local():
			return errors.New("privateEndpoints is not for the stage local: its gateway is on this machine")
		case !endpointShape.MatchString(id):
			return fmt.Errorf("privateEndpoints has %q, which is not the id of a VPC endpoint such as "+
				"vpce-0a1b2c3d4e5f67890", id)
		case slices.Contains(s.PrivateEndpoints[:i], id):
			return fmt.Errorf("privateEndpoints has %s twice", id)
		}
	}
	if _, named := s.Domains[s.Region]; named && len(s.PrivateEndpoints) > 0 {
		return fmt.Errorf("privateEndpoints and domains.%s exclude each other: a private API is called by the name "+
			"of its endpoint", s.Region)
	}
	return nil
}

func (s Settings) checkConcurrency() error {
	c := s.Concurrency
	if c == nil {
		return nil
	}
	if s.Local() {
		return errors.New("concurrency is not for the stage local: its functions are processes of this machine")
	}
	known := map[string]topology.Function{}
	for _, f := range topology.Functions {
		known[f.Name] = f
	}
	for _, set := range []struct {
		member string
		values map[string]int
	}{{"reserved", c.Reserved}, {"provisioned", c.Provisioned}} {
		for _, name := range slices.Sorted(maps.Keys(set.values)) {
			f, ok := known[name]
			switch at := "concurrency." + set.member + "." + name; {
			case !ok:
				return fmt.Errorf("%s: there is no function %s; the functions are %s", at, name,
					strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			case set.values[name] < 1:
				return fmt.Errorf("%s is 1 or more, not %d", at, set.values[name])
			case set.member == "reserved" && set.values[name] < max(s.Cap(f), s.part(f.ReservedConcurrency)):
				return fmt.Errorf("%s is %d or more, not %d: its callers start as many", at,
					max(s.Cap(f), s.part(f.ReservedConcurrency)), set.values[name])
			case set.member == "provisioned" && f.Trigger != topology.ByGateway && f.Trigger != topology.AsAuthorizer:
				return fmt.Errorf("%s: only the authorizer and the functions of the gateway have provisioned instances",
					at)
			case set.member == "provisioned" && s.Reserved(f) > 0 && set.values[name] > s.Reserved(f):
				return fmt.Errorf("%s is at most the reserved concurrency, %d, not %d", at, s.Reserved(f),
					set.values[name])
			}
		}
	}
	return c.checkSchedule()
}

func (c Concurrency) checkSchedule() error {
	h := c.Schedule
	if h == nil {
		return nil
	}
	_, zone := time.LoadLocation(h.TimeZone)
	from, wrongFrom := time.Parse(timeOfDay, h.From)
	to, wrongTo := time.Parse(timeOfDay, h.To)
	switch {
	case len(c.Provisioned) == 0:
		return errors.New("concurrency.schedule is for concurrency.provisioned, which is missing")
	case !daysShape.MatchString(h.Days):
		return fmt.Errorf("concurrency.schedule.days is a day or a range such as MON-FRI, not %q", h.Days)
	case wrongFrom != nil:
		return fmt.Errorf("concurrency.schedule.from is a time such as 07:00, not %q", h.From)
	case wrongTo != nil:
		return fmt.Errorf("concurrency.schedule.to is a time such as 19:00, not %q", h.To)
	case !from.Before(to):
		return fmt.Errorf("concurrency.schedule.to is after from: %s is not after %s", h.To, h.From)
	case h.TimeZone == "" || h.TimeZone == "Local" || zone != nil:
		return fmt.Errorf("concurrency.schedule.timeZone is a name such as Europe/Berlin, not %q", h.TimeZone)
	}
	return nil
}

func (s Settings) checkProfiles() error {
	if s.GlobalProfiles && !slices.Contains(s.Providers, bedrock.Name) {
		return errors.New("globalProfiles is for the provider bedrock, which providers does not have")
	}
	return nil
}

func (s Settings) checkBackup() error {
	b := s.Backup
	if b == nil {
		return nil
	}
	vault := vaultShape.FindStringSubmatch(b.CopyTo)
	switch {
	case s.Local():
		return errors.New("backup is not for the stage local, in which nothing is kept")
	case b.KeepDays < 7 || b.KeepDays > 365:
		return fmt.Errorf("backup.keepDays is 7 to 365, not %d", b.KeepDays)
	case b.CopyTo != "" && vault == nil:
		return fmt.Errorf("backup.copyTo is not the ARN of a vault of AWS Backup: %q", b.CopyTo)
	case vault != nil && vault[1] == s.Region && vault[2] == s.Account:
		return errors.New("backup.copyTo is a vault of the same account and region: what is lost with the data is " +
			"lost with its copies")
	}
	return nil
}

// checkDomains checks the domains of all regions.
func (s Settings) checkDomains() error {
	for _, region := range slices.Sorted(maps.Keys(s.Domains)) {
		d, at := s.Domains[region], "domains."+region
		arn := certificate.FindStringSubmatch(d.CertificateArn)
		switch {
		case !regionShape.MatchString(region):
			return fmt.Errorf("%s: %q is not an AWS region", at, region)
		case !hostShape.MatchString(d.Name):
			return fmt.Errorf("%s.name is a host name such as api.acme.example, not %q", at, d.Name)
		case d.CertificateArn == "" && d.HostedZoneID == "":
			return fmt.Errorf("%s needs a certificateArn, or a hostedZoneId for a new certificate", at)
		case d.CertificateArn != "" && arn == nil:
			return fmt.Errorf("%s.certificateArn is not the ARN of a certificate of AWS Certificate Manager: %q", at,
				d.CertificateArn)
		case arn != nil && arn[1] != region:
			return fmt.Errorf("%s.certificateArn is of the region %s: the gateway needs one of %s", at, arn[1], region)
		case d.HostedZoneID != "" && !zoneIDShape.MatchString(d.HostedZoneID):
			return fmt.Errorf("%s.hostedZoneId is the id of a zone of Route 53 such as Z0123456789ABCDEFGHIJ, not %q",
				at, d.HostedZoneID)
		case d.Truststore != "" && !truststore.MatchString(d.Truststore):
			return fmt.Errorf("%s.truststore is the address of an object such as s3://acme-truststore/clients.pem, "+
				"not %q", at, d.Truststore)
		case d.TruststoreVersion != "" && d.Truststore == "":
			return fmt.Errorf("%s.truststoreVersion is for a truststore, which is missing", at)
		case d.OwnershipCertificateArn != "" && (d.Truststore == "" || d.CertificateArn == ""):
			return fmt.Errorf("%s.ownershipCertificateArn is beside a certificateArn and a truststore: AWS asks for it "+
				"there alone", at)
		case d.OwnershipCertificateArn != "" && !inRegion(d.OwnershipCertificateArn, region):
			return fmt.Errorf("%s.ownershipCertificateArn is the ARN of a public certificate of AWS Certificate Manager in "+
				"%s, not %q", at, region, d.OwnershipCertificateArn)
		case d.PublicName != "":
			if err := s.checkPublic(d, region); err != nil {
				return fmt.Errorf("%s.%w", at, err)
			}
		}
	}
	return nil
}

// inRegion reports whether a text is the ARN of a certificate of a region.
func inRegion(arn, region string) bool {
	found := certificate.FindStringSubmatch(arn)
	return found != nil && found[1] == region
}

// checkPublic checks the name of a domain for callers without a client certificate.
func (s Settings) checkPublic(d Domain, region string) error {
	switch {
	case !hostShape.MatchString(d.PublicName) || d.PublicName == d.Name:
		return fmt.Errorf("publicName is another host name, such as public.acme.example, not %q", d.PublicName)
	case d.Truststore == "":
		return errors.New("publicName is beside a name with a truststore: without one, all callers use the same name")
	case d.PublicCertificateArn == "" && d.HostedZoneID == "":
		return errors.New("publicName needs a publicCertificateArn, or a hostedZoneId for a new certificate")
	case d.PublicCertificateArn != "" && !inRegion(d.PublicCertificateArn, region):
		return fmt.Errorf("publicCertificateArn is the ARN of a certificate of AWS Certificate Manager in %s, not %q",
			region, d.PublicCertificateArn)
	}
	return nil
}

// Inside reports whether the stack's own functions call the API with a client certificate.
func (s Settings) Inside() bool { return s.Domains[s.Region].PublicName != "" }

// checkAlone returns an error if a dedicated customer shares its AWS account.
func (s Settings) checkAlone(customers map[string]json.RawMessage) error {
	if s.Local() {
		if s.Dedicated {
			return errors.New("dedicated is not for the stage local")
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(customers)) {
		var other struct {
			Account   string `json:"account"`
			Dedicated bool   `json:"dedicated"`
		}
		// Errors in the entries of other customers are reported when those customers are deployed.
		if name == s.Customer || json.Unmarshal(customers[name], &other) != nil || other.Account != s.Account {
			continue
		}
		if s.Dedicated {
			return fmt.Errorf("dedicated: the customer %s has the account %s, too; give %s an AWS account of its own",
				name, s.Account, s.Customer)
		}
		if other.Dedicated {
			return fmt.Errorf("account %s is that of the customer %s alone, which is dedicated", s.Account, name)
		}
	}
	return nil
}

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
		case !tableName.MatchString(r.State) || !tableName.MatchString(r.Audit) || r.State == r.Audit:
			return fmt.Errorf("restoredTables.%s has the names of two restored tables, state and audit, not %q and %q",
				name, r.State, r.Audit)
		}
	}
	return nil
}

// tableName matches the name of a DynamoDB table.
var tableName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`)

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
