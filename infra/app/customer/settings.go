// Package customer has the settings of customers in cdk.json. It is separate from the
// stacks, so that commands that only need the settings do not link the CDK.
package customer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// StageLocal is the stage of the local system. Its data is not worth keeping, and its
// webhooks may go to the loopback address.
const StageLocal = "local"

// The parameters of the API's stack of the local system: the address of the API, and that of the
// pages and keys of the user pool. Both are known only when the system starts.
const (
	BaseURLParameter   = "BaseUrl"
	SignInURLParameter = "SignInUrl"
)

// customerLocal is the only customer with the stage local.
const customerLocal = "local"

// Settings are the settings of one customer's stacks in one region.
type Settings struct {
	// Customer names the stacks, the functions and the event bus.
	Customer string `json:"-"`
	// Region is the region of the stacks.
	Region string `json:"region"`
	// Home is the region of the entry in cdk.json.
	Home string `json:"-"`
	// Account is the AWS account. Only the local system may leave it out.
	Account string `json:"account"`
	// Stage is the gateway's stage, and the value of the variable STAGE of the functions.
	Stage string `json:"stage"`
	// Arch is the functions' architecture: arm64 or x86_64.
	Arch string `json:"arch"`
	// Assets is the folder that holds <function>/bootstrap.
	Assets string `json:"assets"`
	// AlarmEmail receives the alarms. If it is empty, there is no subscription.
	AlarmEmail string `json:"alarmEmail"`
	// PageEmail receives the alarms that wake somebody: the address of a pager. If it is empty, AlarmEmail does.
	PageEmail string `json:"pageEmail"`
	// Quiet sends those alarms alone. The others are only shown, for a small stack among many.
	Quiet bool `json:"quiet"`
	// LogLevel is the functions' slog level.
	LogLevel string `json:"logLevel"`
	// LogRetentionDays is how long CloudWatch keeps log lines.
	LogRetentionDays int `json:"logRetentionDays"`
	// AllowLoopbackWebhooks lets webhooks go to the machine itself. Only the local
	// system may set it: on AWS it would open the functions' own network.
	AllowLoopbackWebhooks bool `json:"allowLoopbackWebhooks"`
	// Providers are the generation providers that live keys may use.
	Providers []string `json:"providers"`
	// Guardrail is the guardrail of Amazon Bedrock that moderates texts before they are used: its id, a colon, and its
	// version or DRAFT. If it is empty, texts are not moderated.
	Guardrail string `json:"guardrail"`
	// ProviderEndpoint is the address of the fakes that stand in for all providers.
	// Only the local system may set it: other customers would pay for samples.
	ProviderEndpoint string `json:"providerEndpoint"`
	// PlatformEndpoint is the address of the fakes of the social platforms.
	PlatformEndpoint string `json:"platformEndpoint"`
	// LocalTools is the folder on this machine with ffmpeg and the fonts. The local system
	// uses it instead of the layer.
	LocalTools string `json:"localTools"`
	// KeylessLimit is the number of calls without a key that one address may make in
	// five minutes.
	KeylessLimit int `json:"keylessLimit"`
	// YouTubeDailyUploads is the number of videos that Google lets the customer's application
	// upload in a day. 0 means Google's default.
	YouTubeDailyUploads int `json:"youtubeDailyUploads"`
	// Platforms are the social platforms that the customer has beyond those that every customer has.
	Platforms []string `json:"platforms"`
	// XDailyCents is how much the calls of X may cost on a day, in US cents. 0 means the default.
	XDailyCents int `json:"xDailyCents"`
	// PermissionsBoundary is the ARN of a policy that bounds all roles, or empty.
	PermissionsBoundary string `json:"permissionsBoundary"`
	// Domains are the customer's own names by region.
	Domains map[string]Domain `json:"domains"`
	// CanaryMinutes is the time for which a release gets a tenth of the calls before it gets
	// all. With 0, it gets all calls at once.
	CanaryMinutes int `json:"canaryMinutes"`
	// SignInSender is the address that e-mails of the sign-in come from: of a domain that Amazon SES has verified in
	// the region of the stacks. If it is empty, Cognito sends them, which is 50 a day for the AWS account.
	SignInSender string `json:"signInSender"`
	// SignInFirewall limits the tries of an address at the pages of the pool. A dedicated customer has it without the
	// setting.
	SignInFirewall bool `json:"signInFirewall"`
	// MailSender is the address of e-mails to people, as SignInSender is. If it is empty, people get none.
	MailSender string `json:"mailSender"`
	// MonthlyBudget is the amount in dollars that the AWS account may cost in a month before
	// AlarmEmail gets a message. 0 means no limit.
	MonthlyBudget int `json:"monthlyBudget"`
	// AccountConcurrency is the quota of Lambda for concurrent functions of the AWS account in the region, and
	// AccountStacks the number of stacks that share it. 0 means Lambda's default and one stack.
	AccountConcurrency int `json:"accountConcurrency"`
	AccountStacks      int `json:"accountStacks"`
	// WarmThroughput is what the tables and their indexes take from the first second on. Without it, that is what AWS
	// gives to a new table.
	WarmThroughput *Throughput `json:"warmThroughput"`
	// RestoredTables are the tables that take the place of the stacks' own after a restore, by the start of the stacks'
	// names, such as acme-prod-eu-central-1.
	RestoredTables map[string]Restored `json:"restoredTables"`
	// Isolation has the settings of a customer's own infrastructure.
	Isolation
	// Membership places the customer in the fleet.
	Membership
}

// Domain is a customer's own host name for the API in one region.
type Domain struct {
	Name string `json:"name"`
	// CertificateArn is empty if HostedZoneID validates a new certificate.
	CertificateArn string `json:"certificateArn"`
	// HostedZoneID is the Route 53 zone for the record of the name.
	HostedZoneID string `json:"hostedZoneId"`
	// Truststore is the S3 object with the authorities that sign the callers' client
	// certificates. If it is empty, callers need no certificate.
	Truststore        string `json:"truststore"`
	TruststoreVersion string `json:"truststoreVersion"`
	// OwnershipCertificateArn is a public certificate of AWS Certificate Manager that proves who owns the name. AWS
	// demands it with a truststore if CertificateArn is an imported certificate or one of a private authority.
	OwnershipCertificateArn string `json:"ownershipCertificateArn"`
	// PublicName is a second name beside one that needs client certificates, for those who have none: browsers of
	// people and owners, platforms, CRMs, directories and reviewers. It has their paths alone.
	PublicName           string `json:"publicName"`
	PublicCertificateArn string `json:"publicCertificateArn"`
}

// Throughput is a number of read units and of write units a second.
type Throughput struct {
	Reads  int `json:"reads"`
	Writes int `json:"writes"`
}

// FreshTable is what a new table on demand takes at first, by AWS's guide ("Understanding DynamoDB warm throughput").
var FreshTable = Throughput{Reads: 12_000, Writes: 4_000}

func (t *Throughput) check() error {
	if t != nil && (t.Reads < FreshTable.Reads || t.Writes < FreshTable.Writes) {
		return fmt.Errorf("warmThroughput has at least the %d reads and the %d writes a second that a new table takes, "+
			"not %+v", FreshTable.Reads, FreshTable.Writes, *t)
	}
	return nil
}

// DefaultKeylessLimit is the KeylessLimit of customers that set none.
const DefaultKeylessLimit = 100

// Local reports whether the stacks are for the local system.
func (s Settings) Local() bool { return s.Stage == StageLocal }

// Name returns the prefix of the stacks' names. It is unique for each deployment, because
// a stage has no hyphens.
func (s Settings) Name() string { return s.Customer + "-" + s.Stage + "-" + s.Region }

// RoleName returns the name of a function's role, for policies elsewhere that must name it.
// It includes the region, because role names are unique in an account.
func (s Settings) RoleName(function string) string { return s.Name() + "-" + function }

// Retentions are the numbers of days that CloudWatch may keep logs for.
var Retentions = []int{7, 14, 30, 60, 90, 180, 365}

// canaries are the periods in minutes that CodeDeploy offers. Its shortest period is left out:
// it is shorter than the period of the alarms.
var canaries = []int{0, 10, 15, 30}

// TierAfterDays is the number of days after which media move to the tiers of storage for what is seldom read.
const TierAfterDays = 30

// leastCents is the lowest budget of X. A publication that costs more would wait forever.
const leastCents = 600

// leastLimit is the lowest limit that AWS accepts for a firewall rule.
const leastLimit = 10

var (
	nameShape   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)
	stageShape  = regexp.MustCompile(`^[a-z][a-z0-9]{0,30}$`)
	accountOnly = regexp.MustCompile(`^\d{12}$`)
	boundaryARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/\S+$`)
	regionShape = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d$`)
	guardrail   = regexp.MustCompile(`^[a-z0-9]+:(DRAFT|[1-9]\d{0,7})$`)
	loopback    = regexp.MustCompile(`^http://127\.0\.0\.1:\d{1,5}$`)
)

// Read reads the settings of the customer that the context names. Single context values
// (`-c region=…`) override the customer's entry in the map `customers`. Every error is one
// sentence for the person at the terminal.
func Read(context func(key string) any) (Settings, error) {
	customers, err := decode[map[string]json.RawMessage](context("customers"))
	if err != nil {
		return Settings{}, fmt.Errorf("the context value customers is not a map of customers: %w", err)
	}
	known := strings.Join(slices.Sorted(maps.Keys(customers)), ", ")

	customer, _ := context("customer").(string)
	if customer == "" {
		return Settings{}, fmt.Errorf("no customer is given: add -c customer=<name>; cdk.json knows %s", known)
	}
	entry, ok := customers[customer]
	if !ok {
		return Settings{}, fmt.Errorf("there is no customer %q: cdk.json knows %s", customer, known)
	}
	s := Settings{Stage: "prod", Arch: "arm64", LogLevel: "info", LogRetentionDays: 90,
		KeylessLimit: DefaultKeylessLimit, CanaryMinutes: 10}
	s.Customer = customer
	if err := s.readEntry(entry); err != nil {
		return Settings{}, err
	}
	s.Home = s.Region
	if err := s.override(context); err != nil {
		return Settings{}, err
	}
	if s.Assets == "" {
		s.Assets = filepath.Join("build", s.Arch)
	}
	if err := s.validate(); err != nil {
		return s, err
	}
	return s, s.checkAlone(customers)
}

// override reads the settings that the context has beside the entry, as -c gives them: texts as they are, a list of
// texts with commas, and all else as JSON.
func (s *Settings) override(context func(key string) any) error {
	if value, ok := context("version").(string); ok && value != "" {
		s.Version = value
	}
	for name, of := range map[string]struct {
		to   any
		what string
	}{"found": {&s.Found, "what `make deploy` finds of the tables and the replica"},
		"offered": {&s.Offered, "the list of the pool's providers that `make deploy` finds"}} {
		if text, ok := context(name).(string); ok && text != "" {
			if err := json.Unmarshal([]byte(text), of.to); err != nil {
				return fmt.Errorf("%s is %s: %w", name, of.what, err)
			}
		}
	}
	members := map[string]json.RawMessage{}
	for _, f := range settingFields() {
		name := f.Tag.Get("json")
		value := context(name)
		text, given := value.(string)
		switch {
		case value == nil, given && text == "" && name != "providers":
			continue
		case given && f.Type == reflect.TypeFor[[]string]() && !strings.HasPrefix(text, "["):
			value = slices.DeleteFunc(strings.Split(text, ","), func(name string) bool { return name == "" })
		case given && f.Type.Kind() != reflect.String && json.Valid([]byte(text)):
			value = json.RawMessage(text)
		}
		member, err := json.Marshal(value)
		if err != nil {
			return err
		}
		members[name] = member
	}
	return s.readMembers(members, "by -c")
}

func (s Settings) validate() error {
	switch {
	case !nameShape.MatchString(s.Customer):
		return fmt.Errorf("the customer name %q is not made of lower-case letters, digits and hyphens", s.Customer)
	case strings.HasPrefix(s.Customer+"-", webhook.RolePrefix):
		return fmt.Errorf("the customer name %q begins with %s: customers' own roles are named so, and deliver may "+
			"assume them; choose another name", s.Customer, strings.TrimSuffix(webhook.RolePrefix, "-"))
	case !regionShape.MatchString(s.Region):
		return fmt.Errorf("%q is not an AWS region: add -c region=<region>", s.Region)
	case !stageShape.MatchString(s.Stage):
		return fmt.Errorf("the stage %q is not made of lower-case letters and digits", s.Stage)
	case s.Local() != (s.Customer == customerLocal):
		return fmt.Errorf("the customer %s cannot have the stage %s: the stage %s, in which nothing is kept, is that "+
			"of the customer %s alone", s.Customer, s.Stage, StageLocal, customerLocal)
	case !accountOnly.MatchString(s.Account) && !(s.Local() && s.Account == ""):
		return fmt.Errorf("the account %q of customer %s is not an AWS account id of 12 digits: set account in "+
			"cdk.json, or add -c account=<id>", s.Account, s.Customer)
	case s.PermissionsBoundary != "" && !boundaryARN.MatchString(s.PermissionsBoundary):
		return fmt.Errorf("the permissionsBoundary %q of customer %s is not the ARN of an IAM policy",
			s.PermissionsBoundary, s.Customer)
	case s.Arch != "arm64" && s.Arch != "x86_64":
		return fmt.Errorf("the architecture %q is neither arm64 nor x86_64", s.Arch)
	case s.KeylessLimit < leastLimit:
		return fmt.Errorf("keylessLimit is %d or more, not %d: AWS counts no fewer calls", leastLimit, s.KeylessLimit)
	case s.Guardrail != "" && !guardrail.MatchString(s.Guardrail):
		return fmt.Errorf("the guardrail %q of customer %s is not an id and a version, such as gr4d7k2m9xq1:1",
			s.Guardrail, s.Customer)
	case s.Guardrail != "" && !slices.Contains(s.Providers, "bedrock"):
		return fmt.Errorf("guardrail needs the provider bedrock: customer %s lacks it", s.Customer)
	case s.SignInSender != "" && (s.Local() || !senderShape.MatchString(s.SignInSender)):
		return fmt.Errorf("signInSender is the address of a domain that Amazon SES has verified, such as "+
			"no-reply@acme.example, for deployed stages alone; %q of customer %s is not", s.SignInSender, s.Customer)
	case s.mailFault() != nil:
		return s.mailFault()
	case s.MonthlyBudget < 0:
		return fmt.Errorf("monthlyBudget is a number of dollars, not %d", s.MonthlyBudget)
	case s.MonthlyBudget > 0 && (s.Local() || s.AlarmEmail == ""):
		return fmt.Errorf("monthlyBudget needs alarmEmail, which hears of it, and an AWS account: customer %s lacks one", s.Customer)
	case s.YouTubeDailyUploads < 0:
		return fmt.Errorf("youtubeDailyUploads is the number of uploads that Google permits the application on a "+
			"day, not %d", s.YouTubeDailyUploads)
	case s.XDailyCents != 0 && s.XDailyCents < leastCents:
		return fmt.Errorf("xDailyCents is 0, for the default, or %d or more, which the longest thread costs, not %d",
			leastCents, s.XDailyCents)
	case s.AllowLoopbackWebhooks && !s.Local():
		return fmt.Errorf("allowLoopbackWebhooks is for the stage %s alone: the stage %s would let webhooks reach "+
			"the service's own network", StageLocal, s.Stage)
	case s.ProviderEndpoint != "" && !s.Local():
		return fmt.Errorf("providerEndpoint is for the stage %s alone: with it, customers of the stage %s would pay "+
			"for samples", StageLocal, s.Stage)
	case s.ProviderEndpoint != "" && !loopback.MatchString(s.ProviderEndpoint):
		return fmt.Errorf("the providerEndpoint %q is not http://127.0.0.1:<port>", s.ProviderEndpoint)
	case s.PlatformEndpoint != "" && !(s.Local() && loopback.MatchString(s.PlatformEndpoint)):
		return fmt.Errorf("platformEndpoint is for the stage %s alone, and http://127.0.0.1:<port>: with %q, nothing "+
			"would be published", StageLocal, s.PlatformEndpoint)
	}
	for i, name := range s.Providers {
		if known := catalog.Providers(); !slices.Contains(known, name) {
			slices.Sort(known)
			return fmt.Errorf("the catalog knows no provider %q: providers are some of %s", name,
				strings.Join(known, ", "))
		}
		if slices.Contains(s.Providers[:i], name) {
			return fmt.Errorf("the provider %s is named twice", name)
		}
	}
	if err := errors.Join(s.checkPlatforms(), s.WarmThroughput.check()); err != nil {
		return err
	}
	if !slices.Contains(Retentions, s.LogRetentionDays) {
		return fmt.Errorf("logRetentionDays is 7, 14, 30, 60, 90, 180 or 365, not %d", s.LogRetentionDays)
	}
	if !slices.Contains(canaries, s.CanaryMinutes) {
		return fmt.Errorf("canaryMinutes is 0, 10, 15 or 30, not %d: the alarms look at five minutes", s.CanaryMinutes)
	}
	if err := s.checkDedicated(); err != nil {
		return fmt.Errorf("the settings of customer %s in cdk.json: %w", s.Customer, err)
	}
	return s.checkNames()
}

// OptionalPlatforms are the platforms that a customer may add.
func OptionalPlatforms() (names []string) {
	for _, r := range registry.Rows() {
		if r.Optional {
			names = append(names, r.Name)
		}
	}
	return names
}

// PlatformList returns the platforms that the stack adds. The local system has all.
func (s Settings) PlatformList() []string {
	if s.Local() {
		return OptionalPlatforms()
	}
	return s.Platforms
}

func (s Settings) checkPlatforms() error {
	for i, name := range s.Platforms {
		if known := OptionalPlatforms(); !slices.Contains(known, name) {
			return fmt.Errorf("platforms are some of %s, which customers may add, not %q", strings.Join(known, ", "), name)
		}
		if slices.Contains(s.Platforms[:i], name) {
			return fmt.Errorf("the platform %s is named twice", name)
		}
	}
	return nil
}

// Built returns an error that names a file that is not built, if there is one.
func (s Settings) Built() error {
	var missing []string
	for _, program := range topology.Programs() {
		if _, err := os.Stat(s.Bootstrap(program)); err != nil {
			missing = append(missing, program)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s holds no build of %s: run `make build ARCH=%s` first", s.Assets,
			strings.Join(missing, ", "), s.Arch)
	}
	for _, tool := range []string{"bin/ffmpeg", "lib/libc2pa_c.so"} {
		if _, err := os.Stat(filepath.Join(s.Layer(), tool)); err != nil && !s.Local() {
			return fmt.Errorf("%s holds no %s: run `make build ARCH=%s` first", s.Layer(), tool, s.Arch)
		}
	}
	return nil
}

// Layer returns the folder of the layer with ffmpeg and the fonts.
func (s Settings) Layer() string { return filepath.Join(filepath.Dir(s.Assets), "layer", s.Arch) }

// MediaTools returns the paths of ffmpeg, of the folder of the fonts and of the library of C2PA, as the functions see
// them.
func (s Settings) MediaTools() (ffmpeg, fonts, library string) {
	if s.Local() {
		return filepath.Join(s.LocalTools, "ffmpeg"), filepath.Join(s.LocalTools, "fonts"),
			filepath.Join(s.LocalTools, "c2pa", "libs", "libc2pa_c.so")
	}
	return "/opt/bin/ffmpeg", "/opt/fonts", "/opt/lib/libc2pa_c.so"
}

// Bootstrap returns the path of a built program.
func (s Settings) Bootstrap(program string) string {
	return filepath.Join(s.Assets, program, "bootstrap")
}

// readEntry reads the customer's entry in cdk.json, one member at a time, so that the error
// names every wrong member.
func (s *Settings) readEntry(entry json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(entry, &members); err != nil {
		return fmt.Errorf("the entry of customer %s in cdk.json is not an object of settings", s.Customer)
	}
	return s.readMembers(members, "in cdk.json")
}

// readMembers reads settings, which are given where the error says.
func (s *Settings) readMembers(members map[string]json.RawMessage, where string) error {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(settingNames(), name) {
			wrong = append(wrong, fmt.Sprintf("there is no setting %s", name))
			continue
		}
		member, err := json.Marshal(map[string]json.RawMessage{name: members[name]})
		if err != nil {
			return err
		}
		d := json.NewDecoder(bytes.NewReader(member))
		d.DisallowUnknownFields()
		if err := d.Decode(s); err != nil {
			wrong = append(wrong, name+" "+reason(err))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the settings of customer %s %s: %s; the settings are %s", s.Customer, where,
			strings.Join(wrong, ", "), strings.Join(settingNames(), ", "))
	}
	return nil
}

// reason describes the error in the value of a member.
func reason(err error) string {
	var mistyped *json.UnmarshalTypeError
	if !errors.As(err, &mistyped) {
		return "cannot be read (" + strings.TrimPrefix(err.Error(), "json: ") + ")"
	}
	kinds := map[reflect.Kind]string{
		reflect.String: "text", reflect.Int: "a number", reflect.Bool: "true or false", reflect.Slice: "a list",
	}
	want, ok := kinds[mistyped.Type.Kind()]
	if !ok {
		want = "an object"
	}
	return "must be " + want + ", not a JSON " + mistyped.Value
}

// settingFields returns the fields of the settings that an entry may have.
func settingFields() []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Settings]()), func(f reflect.StructField) bool {
		return f.Tag.Get("json") == "-" || f.Anonymous
	})
}

// settingNames returns the settings that an entry may have, sorted.
func settingNames() []string {
	var all []string
	for _, f := range settingFields() {
		all = append(all, f.Tag.Get("json"))
	}
	slices.Sort(all)
	return all
}

// decode converts a context value, which the CLI may have passed as text, to its type.
func decode[T any](value any) (T, error) {
	var out T
	if text, ok := value.(string); ok {
		return out, json.Unmarshal([]byte(text), &out)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(data, &out)
}

// Short returns the prefix of the names that must be unique within one region.
func (s Settings) Short() string { return s.Customer + "-" + s.Stage }

// FunctionName returns the name of a function in Lambda.
func (s Settings) FunctionName(function string) string { return s.Short() + "-" + function }

// Parts are the stacks of a deployment, each deployed after the one before it: see infra/app/stack.
var Parts = []string{"data", "work", "areas", "api"}

// StackName returns the name of one of the stacks.
func (s Settings) StackName(part string) string { return s.Name() + "-" + part }

// derived is the name of an AWS resource, made from the settings.
type derived struct {
	of, name string
	// most is the greatest number of characters that AWS accepts.
	most int
}

// derived returns the names that are made from the settings in a region. CloudFormation
// makes the other names, and shortens them if they are too long.
func (s Settings) derived() []derived {
	all := []derived{
		{"sampling rule of X-Ray", s.Short() + "-r", 32},
		{"event bus", s.Short(), 256},
		{"alias of a key", s.SecretsKeyAlias(), 256},
		{"role", s.RoleName(topology.Assumer().Name), 64},
		{"dashboard", s.Name(), 255},
		{"stack", s.StackName("preflight"), 128},
	}
	for _, f := range topology.Functions {
		all = append(all, derived{"function", s.FunctionName(f.Name), 64})
	}
	if s.Backup != nil {
		all = append(all, derived{"vault and plan of backups", s.Name(), 50})
	}
	if s.Replica != nil {
		all = append(all, derived{"bucket", s.StandbyBucket(), 63}, derived{"table", s.MadeTable("audit"), 255},
			derived{"secret", s.SharedSecret("provider"), 512})
	}
	if !s.Standby() {
		all = append(all, derived{"domain of the sign-in pages", s.SignInPrefix(), 63})
	}
	return all
}

// SignInPrefix returns the first label of the domain of the sign-in pages. It is unique in the region.
func (s Settings) SignInPrefix() string { return "content-automation-" + s.Short() + "-" + s.Region }

// reserved are the words that Cognito refuses in the domain of sign-in pages, wherever they stand:
// https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-assign-domain-prefix.html.
var reserved = []string{"aws", "amazon", "cognito"}

// checkNames returns an error for the first name that AWS would refuse, in the region of the
// stacks or in that of the replica.
func (s Settings) checkNames() error {
	regions := []Settings{s}
	if s.Replica != nil {
		regions = append(regions, s.There())
	}
	for _, word := range reserved {
		if strings.Contains(s.SignInPrefix(), word) {
			return fmt.Errorf("the names of the customer, %s, and the stage, %s, contain %q, which Cognito refuses in the "+
				"domain of the sign-in pages: choose another name", s.Customer, s.Stage, word)
		}
	}
	for _, in := range regions {
		for _, d := range in.derived() {
			if n := len(d.name); n > d.most {
				return fmt.Errorf("the names of the customer, %s, and the stage, %s, are too long: the %s %s would "+
					"have more than %d characters; shorten them by %d",
					s.Customer, s.Stage, d.of, d.name, d.most, n-d.most)
			}
		}
	}
	return nil
}

var senderShape = regexp.MustCompile(`^[a-zA-Z0-9._+-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$`)

// PublicURL returns the address that people reach without a client certificate, or "" without a domain of the customer.
func (s Settings) PublicURL() string {
	domain := s.Domains[s.Region]
	if name := cmp.Or(domain.PublicName, domain.Name); name != "" {
		return "https://" + name
	}
	return ""
}

// mailFault returns what is wrong with the sender of e-mails to people.
func (s Settings) mailFault() error {
	if s.MailSender == "" || !s.Local() && senderShape.MatchString(s.MailSender) && s.PublicURL() != "" {
		return nil
	}
	return fmt.Errorf("mailSender is the address of a domain that Amazon SES has verified, such as "+
		"no-reply@acme.example, and needs a domain of the API in %s, which the links of e-mails have; %q of customer %s "+
		"is not, or lacks it", s.Region, s.MailSender, s.Customer)
}
