package customer

import (
	"fmt"
	"strings"

	"github.com/content-automation/api/pkg/cloud/topology"
)

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
