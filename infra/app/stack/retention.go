package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
)

// retentions maps customer.Retentions to the values of the CDK.
var retentions = map[int]awslogs.RetentionDays{
	7:   awslogs.RetentionDays_ONE_WEEK,
	14:  awslogs.RetentionDays_TWO_WEEKS,
	30:  awslogs.RetentionDays_ONE_MONTH,
	60:  awslogs.RetentionDays_TWO_MONTHS,
	90:  awslogs.RetentionDays_THREE_MONTHS,
	180: awslogs.RetentionDays_SIX_MONTHS,
	365: awslogs.RetentionDays_ONE_YEAR,
}
