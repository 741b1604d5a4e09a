package org.apache.spark.sql.pyflow;

import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connect.service.ExecuteJobTag;
import org.apache.spark.sql.connect.service.SessionHolderInfo;
import org.apache.spark.sql.connect.service.SparkConnectService$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The sessions of the Spark Connect server in this JVM. In Java, because Scala keeps them to
 * Connect's own package.
 */
final class ConnectSessions {
  private ConnectSessions() {}

  static boolean areServed() {
    try {
      return SparkConnectService$.MODULE$.started();
    } catch (NoClassDefFoundError e) {
      // A Spark without the Connect server.
      return false;
    }
  }

  /** The user of the session that has this id on the server, or whose operation has these tags. */
  static Optional<String> userOf(Optional<String> serverSessionId, Set<String> jobTags) {
    return CollectionConverters.asJava(
            SparkConnectService$.MODULE$.sessionManager().listActiveSessions())
        .stream()
        .filter(
            session ->
                serverSessionId.equals(Optional.of(session.serverSessionId()))
                    || jobTags.stream().anyMatch(tag -> tag.startsWith(tagOfOperations(session))))
        .map(SessionHolderInfo::userId)
        .findFirst();
  }

  /** How Connect tags the jobs of a session's operations, up to the id of the operation. */
  private static String tagOfOperations(SessionHolderInfo session) {
    return ExecuteJobTag.apply(session.userId(), session.sessionId(), "");
  }
}
