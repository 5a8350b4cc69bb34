// Package standing lists what a stack costs every month whether it is used or not. A test
// of the stacks compares the numbers with the templates.
package standing

// Resource is a type of resources with a monthly price.
type Resource struct {
	// Type is that of CloudFormation.
	Type, What string
	Count      int
	// Dollars is the price of one for a month.
	Dollars float64
}

// Resources are those of a shared customer's stacks.
var Resources = []Resource{
	{"AWS::KMS::Key", "Keys of KMS", 3, 1.00},
	{"AWS::SecretsManager::Secret", "Secrets", 4, 0.40},
	{"AWS::WAFv2::WebACL", "Web ACL with one rule", 1, 6.00},
	{"AWS::CloudWatch::Alarm", "Metrics of alarms", 179, 0.10},
	{"AWS::CloudWatch::CompositeAlarm", "Composite alarms", 2, 0.50},
	{"AWS::CloudWatch::Dashboard", "Dashboard", 1, 3.00},
}

// Month returns their price for a month.
func Month() (sum float64) {
	for _, r := range Resources {
		sum += float64(r.Count) * r.Dollars
	}
	return sum
}
