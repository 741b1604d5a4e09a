package io.pyflow.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationsRequest;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptReport;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.logaggregation.ContainerLogsRequest;
import org.apache.hadoop.yarn.logaggregation.LogCLIHelpers;

/**
 * What {@code pyflow} asks YARN for: a program of its own, with Spark's jars and this one as its
 * class path.
 *
 * <pre>
 *   find TAG        the latest application with a tag, as JSON; null if there is none
 *   kill ID         end an application
 *   log ID          what the driver of an application that has ended has printed
 * </pre>
 */
public final class YarnApplications {

  /** The command line asks for a person, who does not wait for a quarter of an hour. */
  private static final long PATIENCE_MILLIS = 20_000;

  private YarnApplications() {}

  /** Does what the command line says; the exit code is 1 where YARN fails. */
  public static void main(String[] arguments) throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    conf.setLong(YarnConfiguration.RESOURCEMANAGER_CONNECT_MAX_WAIT_MS, PATIENCE_MILLIS);
    conf.setInt("ipc.client.connect.max.retries", 3);
    try (YarnClient client = YarnClient.createYarnClient()) {
      client.init(conf);
      client.start();
      run(client, conf, arguments[0], arguments[1]);
    } catch (YarnException | IOException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
  }

  private static void run(YarnClient client, YarnConfiguration conf, String command, String named)
      throws YarnException, IOException {
    switch (command) {
      case "find":
        System.out.println(new ObjectMapper().writeValueAsString(found(client, named)));
        break;
      case "kill":
        client.killApplication(ApplicationId.fromString(named));
        break;
      case "log":
        System.exit(writeLog(client, conf, ApplicationId.fromString(named)));
        break;
      default:
        throw new IllegalArgumentException(command);
    }
  }

  private static Map<String, String> found(YarnClient client, String tag)
      throws YarnException, IOException {
    GetApplicationsRequest request = GetApplicationsRequest.newInstance();
    request.setApplicationTags(Set.of(tag));
    return client.getApplications(request).stream()
        .max(Comparator.comparing(ApplicationReport::getApplicationId))
        .map(YarnApplications::described)
        .orElse(null);
  }

  private static Map<String, String> described(ApplicationReport report) {
    Map<String, String> described = new LinkedHashMap<>();
    described.put("id", report.getApplicationId().toString());
    described.put("state", report.getYarnApplicationState().name());
    described.put("final_state", report.getFinalApplicationStatus().name());
    described.put("url", report.getTrackingUrl());
    described.put("diagnostics", report.getDiagnostics());
    return described;
  }

  private static int writeLog(YarnClient client, YarnConfiguration conf, ApplicationId application)
      throws YarnException, IOException {
    List<ApplicationAttemptReport> attempts = client.getApplicationAttempts(application);
    ContainerId driver =
        attempts.stream()
            .max(Comparator.comparing(ApplicationAttemptReport::getApplicationAttemptId))
            .map(ApplicationAttemptReport::getAMContainerId)
            .orElseThrow(() -> new IOException(application + " has had no container"));
    ContainerLogsRequest request = new ContainerLogsRequest();
    request.setAppId(application);
    request.setAppFinished(true);
    request.setAppOwner(client.getApplicationReport(application).getUser());
    request.setContainerId(driver.toString());
    request.setLogTypes(Set.of("stdout", "stderr"));
    request.setBytes(Long.MAX_VALUE);
    LogCLIHelpers helpers = new LogCLIHelpers();
    helpers.setConf(conf);
    return helpers.dumpAContainerLogsForLogTypeWithoutNodeId(request);
  }
}
