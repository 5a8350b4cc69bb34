package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// lockAfter is the number of days in which an operator can still remove the lock of a vault.
const lockAfter = 3

// backUp makes a backup of the tables and the media every day, in a vault that cannot be
// emptied, and copies the backups to another vault. It does nothing without the setting
// backup.
func (d *data) backUp() {
	b := d.settings.Backup
	if b == nil {
		return
	}
	days := func(n int) map[string]any { return map[string]any{"DeleteAfterDays": n} }
	vault := map[string]any{"BackupVaultName": d.settings.Name(), "EncryptionKeyArn": d.key.KeyArn()}
	if b.Lock {
		vault["LockConfiguration"] = map[string]any{"MinRetentionDays": b.KeepDays, "MaxRetentionDays": b.KeepDays,
			"ChangeableForDays": lockAfter}
	}
	// The CDK package for backups would link the packages of EC2, EFS and RDS.
	add := func(id, kind string, properties map[string]any) awscdk.CfnResource {
		return awscdk.NewCfnResource(d.stack, jsii.String(id),
			&awscdk.CfnResourceProps{Type: jsii.String("AWS::Backup::" + kind), Properties: &properties})
	}
	at := add("Vault", "BackupVault", vault)
	at.ApplyRemovalPolicy(kept(d.settings), nil)
	rule := map[string]any{
		"RuleName": "daily", "TargetBackupVault": at.Ref(), "ScheduleExpression": "cron(0 3 * * ? *)",
		"StartWindowMinutes": 60, "CompletionWindowMinutes": 720, "Lifecycle": days(b.KeepDays),
	}
	if b.CopyTo != "" {
		rule["CopyActions"] = []any{map[string]any{"DestinationBackupVaultArn": b.CopyTo,
			"Lifecycle": days(b.KeepDays)}}
	}
	plan := add("BackupPlan", "BackupPlan",
		map[string]any{"BackupPlan": map[string]any{"BackupPlanName": d.settings.Name(),
			"BackupPlanRule": []any{rule}}})
	role := awsiam.NewRole(d.stack, jsii.String("BackupRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("backup.amazonaws.com"),
			&awsiam.ServicePrincipalOpts{Conditions: &map[string]any{
				"StringEquals": map[string]any{"aws:SourceAccount": d.stack.Account()},
			}}),
		Description: jsii.String("Backs up the data of " + d.settings.Customer),
		ManagedPolicies: &[]awsiam.IManagedPolicy{
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(
				jsii.String("service-role/AWSBackupServiceRolePolicyForBackup")),
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("AWSBackupServiceRolePolicyForS3Backup")),
		},
	})
	accept(role, finding{"AwsSolutions-IAM4", "AWS keeps these policies as AWS Backup needs them."})
	add("BackupSelection", "BackupSelection", map[string]any{"BackupPlanId": plan.Ref(),
		"BackupSelection": map[string]any{
			"SelectionName": "data", "IamRoleArn": role.RoleArn(),
			"Resources": []*string{d.state.TableArn(), d.audit.TableArn(), d.media.BucketArn()},
		}})
	output(d.stack, "BackupVault", at.Ref())
	d.alarmsIn(d.stack).backups(d.settings.Name())
}

// backups adds the alarms for backups and copies that fail.
func (a alarms) backups(vault string) {
	for _, job := range []string{"Backup", "Copy"} {
		options := metric("Sum")
		a.add(job+"sAlarm", alarm{
			says: "A " + map[string]string{"Backup": "backup", "Copy": "copy of a backup"}[job] +
				" has failed. Read the reason at AWS Backup, in the jobs of the vault " + vault + ".",
			runbook: "a-backup-failed",
			metric: awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
				Namespace: jsii.String("AWS/Backup"), MetricName: jsii.String("NumberOf" + job + "JobsFailed"),
				DimensionsMap: &map[string]*string{"BackupVaultName": jsii.String(vault)}, Statistic: options.Statistic,
				Period: options.Period,
			}),
			above: 0,
		})
	}
}
