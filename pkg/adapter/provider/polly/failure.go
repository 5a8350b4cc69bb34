package polly

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/polly/types"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// refused classifies the codes that are specific to this provider.
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
		// The bucket belongs to the service: the caller cannot correct this.
		return &provider.Error{Kind: provider.Quota, Code: "provider_access",
			Message: "The provider cannot store its result."}
	default:
		return nil
	}
}

// failure returns the error of a failed task. The provider's own message is for the log.
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
