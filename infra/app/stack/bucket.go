package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/media"
)

// newMediaBucket makes the private bucket of the media. Callers reach its objects only by
// signed URLs.
func newMediaBucket(stack awscdk.Stack, s customer.Settings, key awskms.Key) awss3.Bucket {
	days := func(n float64) awscdk.Duration { return awscdk.Duration_Days(jsii.Number(n)) }
	log := awss3.NewBucket(stack, jsii.String("MediaLog"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		// S3 can write its logs only to a bucket whose key it manages.
		Encryption:     awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:     jsii.Bool(true),
		Versioned:      jsii.Bool(true),
		RemovalPolicy:  kept(s),
		LifecycleRules: &[]*awss3.LifecycleRule{{Expiration: days(90), NoncurrentVersionExpiration: days(1)}},
	})
	accept(log, finding{"AwsSolutions-S1", "It is the log."})
	var name *string
	if s.Standby() {
		name = jsii.String(s.StandbyBucket()) // The policies of the other region use this name.
	}
	bucket := awss3.NewBucket(stack, jsii.String("Media"), &awss3.BucketProps{
		BucketName:        name,
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_KMS,
		EncryptionKey:     key,
		BucketKeyEnabled:  jsii.Bool(true),
		EnforceSSL:        jsii.Bool(true),
		Versioned:         jsii.Bool(true),
		RemovalPolicy:     kept(s),
		// The log shows who read or changed each object.
		ServerAccessLogsBucket: log,
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:                                  jsii.String("keep-costs-down"),
			AbortIncompleteMultipartUploadAfter: days(1),
			// An overwritten or deleted object can be restored for a month.
			NoncurrentVersionExpiration: days(30),
			// Of a deleted object whose versions are gone, S3 would keep the mark of its deletion.
			ExpiredObjectDeleteMarker: jsii.Bool(true),
			Transitions: &[]*awss3.Transition{{
				StorageClass:    awss3.StorageClass_INTELLIGENT_TIERING(),
				TransitionAfter: days(customer.TierAfterDays),
			}},
		}, {
			// The functions copy the results that providers write here, so the originals can go.
			Id:         jsii.String("forget-raw-results"),
			Prefix:     jsii.String("raw/"),
			Expiration: days(7),
		}, {
			// Providers fetch the inputs of generations within the hour.
			Id:         jsii.String("forget-inputs"),
			Prefix:     jsii.String(media.Inputs),
			Expiration: days(2),
		}, {
			// A training takes at most two days.
			Id:                          jsii.String("forget-samples"),
			Prefix:                      jsii.String(training.Prefix),
			Expiration:                  days(4),
			NoncurrentVersionExpiration: days(1),
		}, {
			// An export or import takes up to a day, and its parts can be fetched for 7 days after that.
			Id:                          jsii.String("forget-exports"),
			Prefix:                      jsii.String(transfer.Exports),
			Expiration:                  days(9),
			NoncurrentVersionExpiration: days(1),
		}, {
			Id:                          jsii.String("forget-imports"),
			Prefix:                      jsii.String(transfer.Imports),
			Expiration:                  days(9),
			NoncurrentVersionExpiration: days(1),
		}, {
			// The functions copy an upload after they have checked it.
			Id:                          jsii.String("forget-uploads"),
			Prefix:                      jsii.String(media.Uploads),
			Expiration:                  days(1),
			NoncurrentVersionExpiration: days(1),
		}},
		// Browsers upload by signed URLs, which permit no other request.
		Cors: &[]*awss3.CorsRule{{
			AllowedMethods: &[]awss3.HttpMethods{awss3.HttpMethods_PUT},
			AllowedOrigins: jsii.Strings("*"),
			AllowedHeaders: jsii.Strings("content-type", "x-amz-checksum-sha256"),
			MaxAge:         jsii.Number(3600),
		}},
	})
	// Set on the resource itself, because the CDK would add a function that runs at each
	// deployment.
	bucket.Node().DefaultChild().(awss3.CfnBucket).SetNotificationConfiguration(
		&awss3.CfnBucket_NotificationConfigurationProperty{
			EventBridgeConfiguration: &awss3.CfnBucket_EventBridgeConfigurationProperty{EventBridgeEnabled: jsii.Bool(
				true)},
		})
	return bucket
}
