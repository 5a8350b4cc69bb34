package customer

import (
	"fmt"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// Short is the common beginning of the names that hold within one region.
func (s Settings) Short() string { return s.Customer + "-" + s.Stage }

// FunctionName names a function.
func (s Settings) FunctionName(function string) string { return s.Short() + "-" + function }

// StackName names one of the stacks.
func (s Settings) StackName(part string) string { return s.Name() + "-" + part }

// derived is a name of a resource of AWS that is made of the settings.
type derived struct {
	of, name string
	// most is how many characters AWS takes.
	most int
}

// derived returns the names that are made of the settings in a region. The others are
// made by CloudFormation, which shortens them.
func (s Settings) derived() []derived {
	all := []derived{
		{"sampling rule of X-Ray", s.Short(), 32},
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
		all = append(all, derived{"bucket", s.StandbyBucket(), 63}, derived{"table", s.SharedTable("audit"), 255}, derived{"secret", s.SharedSecret("provider"), 512})
	}
	return all
}

// checkNames returns an error that names the first name that AWS would refuse, in the
// region of the stacks or in that of the replica.
func (s Settings) checkNames() error {
	regions := []Settings{s}
	if s.Replica != nil {
		regions = append(regions, s.There())
	}
	for _, in := range regions {
		for _, d := range in.derived() {
			if n := len(d.name); n > d.most {
				return fmt.Errorf("the names of the customer, %s, and the stage, %s, are too long: the %s %s would have more than %d characters; shorten them by %d",
					s.Customer, s.Stage, d.of, d.name, d.most, n-d.most)
			}
		}
	}
	return nil
}
