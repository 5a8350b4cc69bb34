package preflight

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/service/worker"
)

func (r run) credentials(ctx context.Context) (finding, error) {
	id, err := r.ID(ctx)
	switch {
	case err != nil:
		return finding{Failed, "AWS does not accept the credentials: sign in, or set AWS_PROFILE (" +
			err.Error() + ")"}, nil
	case r.Settings.Account != "" && id != r.Settings.Account:
		return found(Failed, "they are for the account %s, and %s has the account %s in cdk.json: use credentials of "+
			"that one", id, r.Customer, r.Settings.Account)
	}
	return found(OK, "account %s", id)
}

// leastBootstrap is the version of the bootstrap stack that the CDK needs.
const leastBootstrap = 6

func (r run) bootstrap(ctx context.Context) (finding, error) {
	const run = "run `make bootstrap` with the same CUSTOMER, STAGE and REGION"
	outputs, err := r.Outputs(ctx, "CDKToolkit")
	if errors.Is(err, ErrMissing) {
		return found(Failed, "the account is not prepared for the CDK in %s: %s", r.Region, run)
	}
	if err != nil {
		return finding{}, err
	}
	version, err := strconv.Atoi(outputs["BootstrapVersion"])
	if err != nil || version < leastBootstrap {
		return found(Failed, "the CDK's bootstrap stack has the version %q, and %d is needed: %s",
			outputs["BootstrapVersion"], leastBootstrap, run)
	}
	return found(OK, "version %d", version)
}

// leastUnreserved is the concurrency that AWS keeps free of reservations. It is also the
// least concurrency of the functions behind the gateway.
const leastUnreserved = 100

func (r run) concurrency(ctx context.Context) (finding, error) {
	limit, unreserved, err := r.Account.Concurrency(ctx)
	if err != nil {
		return finding{}, err
	}
	reserved, queues := r.Reservations(), r.Background()
	free := unreserved - reserved
	if r.deployed() {
		free = unreserved // The account already includes our reservations.
	}
	// The request adds the missing concurrency to the account's own.
	request := func(missing int) string {
		return "request at least " + strconv.Itoa(limit+missing) +
			` as "Concurrent executions" of AWS Lambda in Service Quotas`
	}
	switch {
	case free < leastUnreserved:
		return found(Failed, "the limit is %d, of which %d are not reserved; the functions reserve %d and AWS keeps "+
			"%d free: %s", limit, unreserved, reserved, leastUnreserved, request(leastUnreserved+queues-free))
	case free < leastUnreserved+queues:
		return found(Warning, "the limit is %d; with all queues busy %d are left for requests, fewer than %d: %s",
			limit, free-queues, leastUnreserved, request(leastUnreserved+queues-free))
	}
	if stacks := max(1, r.AccountStacks); limit/stacks < r.Share() {
		return found(Warning, "the limit is %d, and the settings of %s expect %d: %s, or set accountConcurrency", limit,
			r.Customer, r.Share()*stacks, request(r.Share()*stacks-limit))
	}
	return found(OK, "limit %d, %d left for requests with all queues busy", limit, free-queues)
}

// models asks for the state of each model: whether the account can call it, whether AWS has moved it to Legacy, which
// it refuses to new accounts, and when it ends.
func (r run) models(ctx context.Context) (finding, error) {
	const bedrock = "bedrock"
	if !slices.Contains(r.Providers, bedrock) {
		return found(Skipped, "the providers of %s do not include bedrock", r.Customer)
	}
	offer := catalog.NewOffer(strings.Join(r.ProviderList(), ","), r.Region, func() time.Time { return r.now })
	lives, err := r.Lives(ctx)
	if err != nil && !errors.Is(err, ErrUnsupported) {
		return finding{}, err
	}
	said := map[string]catalog.Difference{}
	if lives != nil {
		for _, d := range offer.Compare(lives) {
			said[d.Model] = d
		}
	}
	var missing, others []string
	checked := 0
	for _, m := range r.modelsOf(bedrock) {
		reason, err := r.Model(ctx, m.ProviderModel)
		if errors.Is(err, ErrMissing) {
			reason, err = "not in "+r.Region, nil
		}
		if err != nil {
			return finding{}, err
		}
		checked++
		d, differs := said[m.ID]
		switch {
		case reason != "":
			missing = append(missing, m.ProviderModel+" ("+reason+"; "+offer.Place(m)+")")
		case differs:
			others = append(others, d.Text)
		}
	}
	// A model that AWS has taken away must not keep a customer from a release.
	if len(missing) > 0 {
		return found(Warning, "%s: AWS refuses them. Open each in the model catalog of the Bedrock console in %s, "+
			"and accept its terms; models of Anthropic ask for a use case first, others need a subscription in AWS Marketplace. Correct "+
			"pkg/generate/catalog/models.json if the region lacks the model", strings.Join(missing, ", "), r.Region)
	}
	if len(others) > 0 {
		return found(Warning, "AWS says that %s. Set retires_on of each in pkg/generate/catalog/models.json to the day "+
			"that AWS names, and its successor; set its state to retired from that day on", strings.Join(others, ", "))
	}
	return found(OK, "%d models of Bedrock", checked)
}

func (r run) secret(ctx context.Context) (finding, error) {
	var needed []string
	for _, name := range r.Providers {
		if slices.Contains(registry.CredentialProviders(), name) {
			needed = append(needed, name)
		}
	}
	arn := r.outputs["ProviderSecretArn"]
	switch {
	case len(needed) == 0:
		return found(Skipped, "no provider of %s needs a credential", r.Customer)
	case arn == "":
		return beforeDeployment, nil
	}
	value, err := r.Secret(ctx, arn)
	if err != nil {
		return finding{}, err
	}
	have, err := registry.ParseCredentials(value)
	if err != nil {
		return found(Warning, "%v: set the credentials with `PROVIDER_SECRET=%s go run ./infra/operate/admin "+
			"providers set`", err, arn)
	}
	needed = slices.DeleteFunc(needed, func(name string) bool { _, ok := have[name]; return ok })
	if len(needed) > 0 {
		return found(Warning, "those of %s are missing, and live work with them fails: set all with "+
			"`PROVIDER_SECRET=%s go run ./infra/operate/admin providers set`", strings.Join(needed, ", "), arn)
	}
	return found(OK, "%d are set", len(have))
}

func (r run) certificate(ctx context.Context) (finding, error) {
	domain, named := r.Domains[r.Region]
	if !named {
		return found(Skipped, "%s has no domain in %s", r.Customer, r.Region)
	}
	if domain.CertificateArn == "" {
		return found(Skipped, "the deployment makes that of %s, and waits for its validation by the zone %s",
			domain.Name, domain.HostedZoneID)
	}
	status, err := r.Certificate(ctx, domain.CertificateArn)
	switch {
	case errors.Is(err, ErrMissing):
		return found(Failed, "there is no certificate %s: request one for %s in AWS Certificate Manager in %s",
			domain.CertificateArn, domain.Name, r.Region)
	case err != nil:
		return finding{}, err
	case status != "ISSUED":
		return found(Failed, "the certificate of %s is %s: add the validation records of AWS Certificate Manager to "+
			"its DNS zone", domain.Name, status)
	}
	return found(OK, "%s", domain.Name)
}

// egress names the addresses from which receivers and platforms get calls.
func (r run) egress(context.Context) (finding, error) {
	switch addresses := r.outputs["EgressAddresses"]; {
	case r.Network == nil:
		return found(Skipped, "%s has no network of its own: its calls come from addresses of AWS that change",
			r.Customer)
	case addresses == "":
		return beforeDeployment, nil
	default:
		return found(OK, "%s: the addresses for the allow-lists of receivers", strings.ReplaceAll(addresses, ",", ", "))
	}
}

func (r run) subscription(ctx context.Context) (finding, error) {
	topic, pages := r.outputs["AlarmTopicArn"], r.outputs["PageTopicArn"]
	switch {
	case r.Local():
		return found(Skipped, "the local system has no one to alarm")
	case r.AlarmEmail == "":
		return found(Warning, "no alarm reaches anyone: set alarmEmail of %s in cdk.json", r.Customer)
	case topic == "" || pages == "":
		return beforeDeployment, nil
	}
	pending, err := r.Pending(ctx, topic)
	if err != nil {
		return finding{}, err
	}
	paged, err := r.Pending(ctx, pages)
	if err != nil {
		return finding{}, err
	}
	for _, address := range paged {
		if !slices.Contains(pending, address) {
			pending = append(pending, address)
		}
	}
	if len(pending) > 0 {
		return found(Warning, "no alarm reaches %s: open the link in the message of AWS Notifications to it",
			strings.Join(pending, ", "))
	}
	return found(OK, "%s", r.AlarmEmail)
}

// trail checks that the alarm for a key that was disabled can be raised: EventBridge has calls of KMS from a trail
// alone.
func (r run) trail(ctx context.Context) (finding, error) {
	if r.Local() {
		return found(Skipped, "the local system has no one to alarm")
	}
	logs, err := r.Trails(ctx)
	switch {
	case err != nil:
		return finding{}, err
	case !logs:
		return found(Warning, "nobody hears of a key that was disabled, because no trail of CloudTrail logs %s: make one "+
			"with management events for all regions. AWS charges nothing for the first copy of them but their storage",
			r.Region)
	}
	return found(OK, "a trail logs %s", r.Region)
}

func (r run) logRole(ctx context.Context) (finding, error) {
	if !r.deployed() {
		return beforeDeployment, nil
	}
	role, err := r.LogRole(ctx)
	if err != nil {
		return finding{}, err
	}
	if role == "" {
		return found(Warning, "API Gateway writes no access log: deploy again, which sets the role of the account")
	}
	return found(OK, "%s", role)
}

// memory checks that AWS accepts the largest function, because new accounts have a lower limit.
// It makes a function only if the deployed one does not show this.
func (r run) memory(ctx context.Context) (finding, error) {
	var largest topology.Function
	for _, f := range topology.Functions {
		if f.Memory > largest.Memory {
			largest = f
		}
	}
	have, err := r.Memory(ctx, r.FunctionName(largest.Name))
	if err != nil && !errors.Is(err, ErrMissing) {
		return finding{}, err
	}
	if have >= largest.Memory {
		return found(OK, "%s has %d MB", largest.Name, have)
	}
	reason, err := r.Takes(ctx, r.StackName("preflight"), r.PermissionsBoundary, largest.Memory)
	switch {
	case errors.Is(err, ErrDenied):
		return found(Warning, "not checked, because the credentials may make no stack with a function: a new account "+
			"refuses the %d MB of %s until AWS Support has raised its limit", largest.Memory, largest.Name)
	case err != nil:
		return finding{}, err
	case aboutMemory(reason):
		return found(Failed, "the account has a lower limit than the %d MB that %s needs (%s). Service Quotas does "+
			"not have it: open a case at AWS Support, "+
			`"Service limit increase" of AWS Lambda, and ask for functions of up to 10,240 MB in %s. The answer takes days`, largest.Memory, largest.Name, reason, r.Region)
	case reason != "":
		return found(Failed, "AWS makes no function of %d MB, which %s needs: %s", largest.Memory, largest.Name, reason)
	}
	return found(OK, "AWS takes the %d MB of %s", largest.Memory, largest.Name)
}

// soon is the time before its end at which a certificate should be renewed.
const soon = 30 * 24 * time.Hour

// canary checks that the canary can probe the API.
func (r run) canary(ctx context.Context) (finding, error) {
	const set = "set them with `admin canary set`"
	secret := r.outputs["CanarySecretArn"]
	switch {
	case r.Local():
		return found(Skipped, "the local system is not probed")
	case !r.Probed():
		return found(Warning, "nothing probes the service: the API is private, and %s has no network from which the "+
			"canary could reach it. Set network of %s in cdk.json", r.Customer, r.Customer)
	case secret == "" || !r.deployed():
		return beforeDeployment, nil
	}
	value, err := r.Secret(ctx, secret)
	if err != nil {
		return finding{}, err
	}
	target, err := worker.ParseTarget(value)
	domain, named := r.Domains[r.Region]
	switch {
	case err != nil:
		return found(Warning, "nothing probes the service: %v; %s", err, set)
	case target.Key == "":
		return found(Warning, "nothing probes the service, and an alarm says so: the canary has no address and test "+
			"key; %s", set)
	case r.outputs["ProbeUrl"] != "" && strings.TrimSuffix(target.BaseURL, "/") != r.outputs["ProbeUrl"]:
		return found(Warning, "the canary reaches the private API by %s alone, and has %s; %s", r.outputs["ProbeUrl"],
			target.BaseURL, set)
	case named && domain.Truststore != "" && target.Expires().IsZero():
		return found(Warning, "%s wants client certificates, and the canary has none; %s", domain.Name, set)
	case !target.Expires().IsZero() && target.Expires().Before(r.now.Add(soon)):
		return found(Warning, "the client certificate of the canary expires at %s: replace it; %s",
			target.Expires().Format(time.RFC3339), set)
	}
	return found(OK, "%s", target.BaseURL)
}

// caller checks that the account area and the server for agents have a client certificate, if callers need one.
func (r run) caller(ctx context.Context) (finding, error) {
	const set = "set it with `admin caller set`"
	name := r.outputs["CallerSecretArn"]
	if name == "" || !r.deployed() {
		return beforeDeployment, nil
	}
	value, err := r.Secret(ctx, name)
	if err != nil {
		return finding{}, err
	}
	shown, err := secret.ParseCertificate(value)
	switch {
	case err != nil:
		return found(Warning, "the account area and agents' tools do not work, since they cannot call %s: %v; %s",
			r.Domains[r.Region].Name, err, set)
	case shown.Leaf.NotAfter.Before(r.now.Add(soon)):
		return found(Warning, "the client certificate of the account area expires at %s: replace it; %s",
			shown.Leaf.NotAfter.Format(time.RFC3339), set)
	}
	return found(OK, "valid until %s", shown.Leaf.NotAfter.Format(time.DateOnly))
}

// sender warns of the limit of Cognito's own e-mails: invitations and forgotten passwords wait for the next day. AWS
// makes no user pool with a sender that Amazon SES has not verified.
func (r run) sender(ctx context.Context) (finding, error) {
	switch {
	case r.Local():
		return found(Skipped, "the local system sends no e-mails")
	case r.SignInSender == "":
		return found(Warning, "Cognito sends at most 50 e-mails a day for the whole AWS account, and anyone may ask for one: "+
			"verify a domain in Amazon SES, and set signInSender of %s in cdk.json", r.Customer)
	}
	return r.sends(ctx, "signInSender", r.SignInSender)
}

// mails checks that Amazon SES sends the e-mails to people.
func (r run) mails(ctx context.Context) (finding, error) {
	switch {
	case r.Local():
		return found(Skipped, "the local system sends no e-mails")
	case r.MailSender == "":
		return found(Skipped, "people get no e-mails: to send invitations and notifications, verify a domain in "+
			"Amazon SES, and set mailSender of %s in cdk.json", r.Customer)
	}
	return r.sends(ctx, "mailSender", r.MailSender)
}

// sends checks that Amazon SES sends from the address of a setting, and to anybody.
func (r run) sends(ctx context.Context, setting, address string) (finding, error) {
	_, domain, _ := strings.Cut(address, "@")
	verified, production, err := r.Sends(ctx, domain)
	switch {
	case errors.Is(err, ErrMissing), err == nil && !verified:
		return found(Failed, "Amazon SES in %s has not verified %s: create the identity and its DNS records, or "+
			"remove %s of %s", r.Region, domain, setting, r.Customer)
	case err != nil:
		return finding{}, err
	case !production:
		return found(Warning, "Amazon SES in %s is in its sandbox, and sends to verified addresses alone: ask AWS for "+
			"production access", r.Region)
	}
	return found(OK, "%s", address)
}

// budget checks that someone gets a message when costs rise.
func (r run) budget(context.Context) (finding, error) {
	switch {
	case r.Local():
		return found(Skipped, "the local system costs nothing")
	case r.MonthlyBudget == 0:
		return found(Warning, "nobody hears of costs that rise: set monthlyBudget of %s in cdk.json, in dollars",
			r.Customer)
	}
	return found(OK, "$%d a month, to %s", r.MonthlyBudget, r.AlarmEmail)
}
