import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.CommandLineInput;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Runs DynamoDB Local in memory, without telemetry, on a free port of the loopback address:
 * its own command listens on all addresses. Prints its address, and ends with its input.
 */
public class Engine {
    public static void main(String[] args) throws Exception {
        var settings = new CommandLineInput(new String[] {"-inMemory", "-disableTelemetry"});
        var out = System.out;
        System.setOut(System.err); // the engine prints its settings
        settings.init();
        var proxy = ServerRunner.createServer(settings);
        var field = DynamoDBProxyServer.class.getDeclaredField("server");
        field.setAccessible(true);
        var connector = (ServerConnector) ((Server) field.get(proxy)).getConnectors()[0];
        connector.setHost("127.0.0.1");
        connector.setPort(0);
        proxy.start();
        out.println("http://127.0.0.1:" + connector.getLocalPort());
        while (System.in.read() >= 0) {
        }
        System.exit(0);
    }
}
