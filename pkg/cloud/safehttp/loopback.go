package safehttp

import (
	"fmt"
	"strconv"
)

// localStage is the stage of the local system.
const localStage = "local"

// AllowLoopback reads the setting ALLOW_LOOPBACK_WEBHOOKS. It returns an error if a stage other than the local one has
// it, because it would open the network of the functions to everybody who can create a webhook.
func AllowLoopback(setting, stage string) (bool, error) {
	if setting == "" {
		return false, nil
	}
	allow, err := strconv.ParseBool(setting)
	if err != nil {
		return false, fmt.Errorf("safehttp: ALLOW_LOOPBACK_WEBHOOKS is true or false, not %q", setting)
	}
	if allow && stage != localStage {
		return false, fmt.Errorf("safehttp: ALLOW_LOOPBACK_WEBHOOKS is for the stage %s alone: in the stage %q "+
			"webhooks could reach the service's own network", localStage, stage)
	}
	return allow, nil
}
