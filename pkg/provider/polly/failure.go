package polly

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/polly/types"

	"github.com/content-automation/api/pkg/provider"
)

// refused reads the codes that only this provider has.
func refused(code, _ string) *provider.Error {
	switch code {
	case "TextLengthExceeded":
		return invalid("text_too_long", "The text is longer than the model supports.")
	case "EngineNotSupported":
		return invalid("unknown_voice", "The model has no such voice.")
	case "LanguageNotSupported":
		return invalid("unsupported_language", "The voice does not speak the language.")
	case "InvalidTaskId", "SynthesisTaskNotFound":
		return unknown()
	case "InvalidS3Bucket", "InvalidS3Key", "InvalidSnsTopicArn":
		// Our bucket, which the caller knows nothing of.
		return &provider.Error{Kind: provider.Quota, Code: "provider_access", Message: "The provider cannot store its result."}
	default:
		return nil
	}
}

// failure tells why a task has failed. The provider's own words go to the log.
func failure(task *types.SynthesisTask) *provider.Error {
	return &provider.Error{
		Kind: provider.Rejected, Code: "generation_failed", Message: "The provider could not speak the text.",
		Cause: fmt.Errorf("polly: %.300q", aws.ToString(task.TaskStatusReason)),
	}
}

func invalid(code, message string) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: code, Message: message}
}

func unknown() *provider.Error {
	return invalid("unknown_generation", "The provider does not know the generation.")
}
