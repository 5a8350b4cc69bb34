// Package standing lists the parts of a stack that cost money every month whether they are used or not. A test of
// the stacks compares the numbers with the templates.
package standing

// Resource is a type of resource with a monthly price.
type Resource struct {
	// Type is the type in CloudFormation.
	Type, What string
	Count      int
	// Dollars is the price of one resource for a month.
	Dollars float64
}

// Rule stands for a rule of a web ACL, which CloudFormation knows as a part of it.
const Rule = "AWS::WAFv2::WebACL/Rules"

// Dashboard is the price of a dashboard for a month.
const Dashboard = 3.00

// Resources are the resources of a shared customer's stacks. The gates of releases are not among them: they exist while
// a release uses them.
var Resources = []Resource{
	{"AWS::KMS::Key", "Keys of KMS", 4, 1.00},
	{"AWS::SecretsManager::Secret", "Secrets", 4, 0.40},
	{"AWS::WAFv2::WebACL", "Web ACL", 1, 5.00},
	{Rule, "Rules of the web ACL", 6, 1.00},
	{"AWS::CloudWatch::Alarm", "Metrics of alarms", 89, 0.10},
	{"AWS::CloudWatch::CompositeAlarm", "Composite alarms", 2, 0.50},
	{"AWS::CloudWatch::Dashboard", "Dashboard", 1, Dashboard},
}

// Rotated is the number of keys that KMS rotates each year. AWS charges a key's price once more after each of its first
// two rotations.
const Rotated = 3

// Rotations returns what the rotations of keys cost a month in a year of a stack, from 1 on.
func Rotations(year int) float64 { return float64(Rotated * min(year-1, 2)) }

// Month returns the price of Resources for a month.
func Month() (sum float64) {
	for _, r := range Resources {
		sum += float64(r.Count) * r.Dollars
	}
	return sum
}

// Own is a type of resource of a customer with its own infrastructure. Its monthly price depends on the region.
type Own struct {
	// Type is the type in CloudFormation.
	Type, What string
	Count      int
	// Virginia and Frankfurt are the prices of one resource for a month.
	Virginia, Frankfurt float64
}

// hours is the number of hours of a month that AWS charges for.
const hours = 730

// officeHours is the number of hours of a month between 7:00 and 19:30, Monday to Friday.
const officeHours = 12.5 * 5 * 365.25 / 7 / 12

// instance is the price of half a gigabyte of a started instance for an hour.
const instance = 0.5 * 3600 * 0.0000033334

const (
	natType      = "AWS::EC2::NatGateway"
	endpointType = "AWS::EC2::VPCEndpoint"
	addressType  = "AWS::EC2::EIP"
	alarmType    = "AWS::CloudWatch::Alarm"
)

// Dedicated are the resources that the customer hooli of cdk.json has in its own region in addition to Resources.
var Dedicated = []Own{
	{natType, "NAT gateways, one in each of two zones", 2, 0.045 * hours, 0.052 * hours},
	{endpointType, "Interface endpoints of 6 services, in two zones", 12, 0.01 * hours, 0.012 * hours},
	{addressType, "Public addresses", 2, 0.005 * hours, 0.005 * hours},
	{"AWS::WAFv2::WebACL", "Web ACL of the user pool, with its rule", 1, 6, 6},
	{alarmType, "Alarms of backups and copies", 5, 0.10, 0.10},
	{"AWS::ApplicationAutoScaling::ScalableTarget", "Instances that are kept started in office hours", 15,
		instance * officeHours, instance * officeHours},
}

// Waiting are the resources in the region of its replica before a failover. Secrets there are copies, which the
// stack of the other region names.
var Waiting = []Own{
	{"AWS::KMS::Key", "Keys of KMS", 2, 1, 1},
	{"AWS::KMS::ReplicaKey", "Copy of the key of customers' secrets", 1, 1, 1},
	{"AWS::SecretsManager::Secret", "Copies of secrets", 4, 0.40, 0.40},
	{addressType, "Public addresses, which no gateway uses yet", 2, 0.005 * hours, 0.005 * hours},
}

// Sum returns the price of resources for a month in us-east-1 and in eu-central-1.
func Sum(all []Own) (prices [2]float64) {
	for _, r := range all {
		prices[0] += float64(r.Count) * r.Virginia
		prices[1] += float64(r.Count) * r.Frankfurt
	}
	return prices
}
