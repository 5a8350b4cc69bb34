package preflight

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
)

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
