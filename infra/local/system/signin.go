package system

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/content-automation/api/infra/local/identity"
)

// makeUsers adds identity.Users to the user pool, and sets Password.
func (s *System) makeUsers(ctx context.Context) error {
	pool, password := s.Outputs["UserPoolId"], rand.Text()[:12]
	client := cognitoidentityprovider.NewFromConfig(s.AWS())
	for _, u := range identity.Users() {
		_, err := client.AdminCreateUser(ctx, &cognitoidentityprovider.AdminCreateUserInput{
			UserPoolId: &pool, Username: &u.Email, MessageAction: types.MessageActionTypeSuppress,
			UserAttributes: []types.AttributeType{{Name: aws.String("email"), Value: &u.Email},
				{Name: aws.String("email_verified"), Value: aws.String("true")}, {Name: aws.String("name"), Value: &u.Name}},
		})
		if err == nil {
			_, err = client.AdminSetUserPassword(ctx, &cognitoidentityprovider.AdminSetUserPasswordInput{
				UserPoolId: &pool, Username: &u.Email, Password: &password, Permanent: true})
		}
		if err != nil {
			return fmt.Errorf("adding %s to the user pool: %w", u.Email, err)
		}
	}
	s.Password = password
	return nil
}
